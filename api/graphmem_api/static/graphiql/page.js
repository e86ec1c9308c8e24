"use strict";

const QUERY = `# The API of graphmem. Every operation needs a header, in the pane "Headers" below:
#
#   Authorization: Bearer ...    made by: graphmem token --role ROLE --institution NAME
#   X-Graphmem-Session: ...      the token that openSession gives; for what a student said
#
# The documentation of all operations is in the bar on the left.

{
  jobs(first: 5) {
    total
  }
}
`;
const HEADERS = `{
  "Authorization": "Bearer ...",
  "X-Graphmem-Session": ""
}
`;

const url = window.location.href.split(/[?#]/)[0];
const socketUrl = url.replace(/^http/, "ws");

// Subscriptions send the headers in the payload of connection_init, so that each has a connection of its own.
function fetcher(operation, options) {
  const headers = (options && options.headers) || {};
  const client = graphqlWs.createClient({ url: socketUrl, connectionParams: headers, retryAttempts: 0 });
  return GraphiQL.createFetcher({ url, wsClient: client })(operation, options);
}

ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultQuery: QUERY,
    defaultHeaders: HEADERS,
    defaultEditorToolsVisibility: "headers",
    isHeadersEditorEnabled: true,
    // A token is not to stay in the browser's storage.
    shouldPersistHeaders: false,
  }),
);
