// Wait until the indexes hold every copy.
CALL db.awaitIndexes(300)
