"""Wordings of the offline mind's replies, by the move they make (`graphmem.offline.replies` chooses)."""

KEPT = "I will remember that."
NEXT = ("What would you like to do next?", "What else is on your mind?", "What would you like to talk about now?")
CHECKS = ("Does that help?", "Is that what you are looking for?", "What does that tell you about your question?")
"""What is asked where something is remembered that may answer a question."""
ON_WITH_IT = "Shall we go on with our work?"
"""How the talk goes on after something else than the work, without and with a task."""

# {quote} the student's words, {told} the same said to the student, {topic} what it is about, {sum} an equation, {name}
# the student's, {own} the name a student has just given, {me} the companion's, {hint} a question that the task gives
# rise to or a sentence of it, {mention} a sentence on what is remembered, {next} how the talk goes on, {kept} that
# something will be remembered, {use} a question about its use for the task, {story} the task. A wording is left out
# where what it needs is missing; the last ones of a list need nothing.
WORDINGS: dict[str, tuple[str, ...]] = {
    "greeting": (
        "Hello, {name}! What would you like to work on?",
        "Hi {name}, good to see you. What shall we look at first?",
        "Hello! What would you like to work on?",
        "Hi, good to see you. What shall we look at first?",
    ),
    "goodbye": (
        "Goodbye, {name}, and thank you for today.",
        "See you next time, {name}. Well done for staying with it.",
        "Goodbye, and thank you for today.",
        "See you next time. Well done for staying with it.",
    ),
    "reaction": (
        "All right. {next}",
        "I see. {next}",
        "Good. {next}",
    ),
    "story": (
        "Tell me more about it.",
        "And how was that for you?",
        "I see. What do you make of it?",
        "Oh! How did that come about?",
    ),
    "opinion": (
        "You say {quote}. What makes you think so?",
        "You say {quote}. What would somebody say who sees it differently?",
        "What makes you think so?",
        "What would somebody say who sees it differently?",
    ),
    "companion": (
        "I am {me}, a program, so there is not much to tell of me. How is it with you?",
        "My name is {me}, and as a program I have no life of my own to tell of. What about you?",
        "I am a program, so there is not much to tell of me. How is it with you?",
        "As a program I have no life of my own to tell of. What about you?",
        "I am a program that listens and remembers, without a life of its own. What would you like to tell me?",
    ),
    "well-being": (
        "Hello, {name}! I am a program, so I am always well. {next}",
        "Hello! I am a program, so I am always well. {next}",
        "Thank you for asking! A program like me is always well. {next}",
    ),
    "told companion": (
        "I am {me}, a program, and have little to tell of myself. You say that {told}: tell me more about it.",
        "As a program I have no life of my own to tell of. So {told}: tell me more about it.",
        "There is not much to tell of a program like me. And {told}: what more should I know about it?",
    ),
    "ability": (
        "I listen, remember what you tell me, check sums and ask questions that help you think. {next}",
        "I am a program that remembers what you tell it and thinks along with you, sums included. {next}",
    ),
    "request": (
        "I can think along with you, check sums and remember what you tell me, and not much else. {next}",
        "That may be more than I can do: I remember what you tell me, check sums and think along with you. {next}",
    ),
    "help": (
        "Yes, I can think it through with you and check sums. What is the task?",
        "Gladly. What is the task, and what have you tried so far?",
    ),
    "to do": (
        "{quote}: what would be your first step?",
        "{quote}: what do you know already that could help with that?",
        "All right. What would be your first step?",
        "What do you know already that could help with that?",
    ),
    "thanks": (
        "You are welcome. {next}",
        "You are welcome. What would you like to look at next?",
        "You are welcome. How would you explain it to a friend, in your own words?",
    ),
    "agreement": (
        "Good. What is your next step?",
        "All right. Can you say in your own words what we have so far?",
        "Fine. Try the next bit and tell me what you get.",
    ),
    "denial": (
        "All right, no. What would you say instead?",
        "Okay. Which part does not fit for you?",
        "All right. What is it that makes you say no?",
    ),
    "confusion": (
        "That is all right, let us take it in small pieces. {hint}",
        "No problem. {hint}",
        "That is all right, let us take it in small pieces. What do you already know about {topic}?",
        "No problem. Looking at {topic}: which part is the first that does not make sense?",
        "That is fine. Which part is the first that does not make sense: the words, or what to do with them?",
        "Not knowing yet is fine. What is asked, and what has been given to you?",
    ),
    "still confused": (
        "Let us go on in small pieces. {hint}",
        "Let us try another way: make a small drawing or a list of what is given. What goes into it first?",
        "Let us make it easier: try the same with very small numbers or a shorter example. What do you get?",
        "Let us go back to the last thing that was clear. What was it?",
    ),
    "remembered question": (
        "{mention} " + CHECKS[0],
        "{mention} " + CHECKS[1],
        "{mention} " + CHECKS[2],
    ),
    "question": (
        "I do not know enough to answer that. What do you know about it so far?",
        "I cannot look that up for you. What would be your best guess, and what makes you think so?",
        "I cannot tell you that for certain. Where could we look to find out?",
        "Good that you ask, though I cannot answer it for certain. What would be your own best guess?",
    ),
    "advice": (
        "I cannot decide that for you, but we can think it through. What ways do you see?",
        "What have you thought of so far? Let us look at what speaks for each.",
        "What would you tell a friend who was in your place?",
    ),
    "guess": (
        "{quote} is a guess that I cannot check myself. What makes you think of it?",
        "It may be {quote}; how could you find out?",
        "What makes you think so?",
        "That may be; how could you find out?",
    ),
    "right sum": (
        "Yes, {sum}. {hint}",
        "{sum} is reckoned correctly. {hint}",
        "{sum}: I get the same. {hint}",
        "{sum} is reckoned correctly. What does the result stand for in {story}?",
        "In {sum} I get the same number. Is that already what is asked, or one step on the way?",
        "The arithmetic of {sum} is right. What made you choose that step?",
        "Yes, {sum}. How would you show that with a drawing?",
    ),
    "same sum": (
        "You come to {sum} again, and the arithmetic is right. {hint}",
        "{sum} is reckoned correctly, as before. Is it what {story} tells? Say in your own words what happens in it.",
        "{sum} once more: the arithmetic holds. Could another step fit {story} better?",
        "That is {sum} again. Put the result into {story} in place of what is asked: does every sentence still fit?",
        "That is {sum} again, and the arithmetic is right. What is it a part of?",
    ),
    "wrong sum": (
        "Let us look at {sum} once more. What do you get when you work it out again, step by step?",
        "I do not get the same number for {sum}. Can you go through it slowly and tell me each step?",
        "Please check {sum}: which part of it can you work out first, and what does that give?",
    ),
    "right comparison": (
        "Yes, of {sum} that is the one. How could you show it with a drawing?",
        "I come to the same for {sum}. How would you explain it to a friend?",
    ),
    "wrong comparison": (
        "Let us look at {sum} once more: I come to the other one. Draw both: which one takes up how much?",
        "For {sum} I come to the other one. What would a drawing of both look like?",
    ),
    "same answer": (
        "You have said {quote} before. {hint}",
        "You stay with {quote}. Put it into the task in place of what is asked: does every sentence still fit?",
        "That is what you said before. How could you test it with the first sentence of the task?",
        "You stay with that answer. Which step on the way to it are you least sure of?",
    ),
    "given": (
        "The task says {hint}. What can you work out with that?",
        "That stands in the task: {hint}. What is your next step?",
        "So we have that from the task: {hint}. What do you need besides?",
    ),
    "step": (
        "{hint}",
        "Let me look at {quote} with you. {hint}",
        "You say {quote}. How did you come to it?",
        "{quote}: what did you start from, and what did you do with it?",
        "You have {quote}. How could you test that, for example with a drawing or by working backwards?",
        "How did you get there? Take me through it one step at a time.",
        "What did you start from, and what did you do first?",
    ),
    "reasoned step": (
        "You give a reason: {quote}. {hint}",
        "You give a reason: {quote}. Can you show it with a drawing or an example?",
        "Good that you say why: {quote}. Does that hold with other numbers, too?",
        "Good that you say why. Can you show it with a drawing or an example?",
        "You give a reason for it. Does it hold with other numbers, too?",
    ),
    "statement": (
        "You say {quote}. What makes you think so?",
        "You say {quote}. {use}",
        "What makes you think so?",
        "Can you tell me a little more about that?",
    ),
    "disclosure": (
        "Nice to meet you, {own}! {kept} {next}",
        "So {told}. {kept} {next}",
        "Thank you for telling me that {told}. {next}",
        "Thank you for telling me. {kept} {next}",
        "Thank you for telling me. {next}",
        "I am glad you told me that. {next}",
    ),
    "wish": (
        "All right, {own}. {kept} {next}",
        "All right, I have understood that. {kept} {next}",
        "Good that you say so. {next}",
        "All right, thank you for saying it. {next}",
    ),
    "promise": (
        "{kept} Tell me how it went when you have done it. {next}",
        "That is a good plan. Tell me how it went when you have done it. {next}",
        "Good that you take it on. {next}",
    ),
    "secret": (
        "Thank you for trusting me with that. I will not bring it up unless you do. {next}",
        "Thank you for telling me. I will leave it to you to talk about it or not. {next}",
    ),
    "good news": (
        "Nice to meet you, {own}! {next}",
        "How nice: {told}. {next}",
        "I am glad to hear that {told}. {next}",
        "I am happy to hear that! {next}",
        "Lovely, thank you for telling me! {next}",
    ),
    "worry": (
        "That does not sound easy: {told}. What would help you most right now?",
        "I hear you. What would make it a little easier?",
        "Thank you for telling me; that does not sound easy. Would you like to say more, or shall we go on gently?",
    ),
    "sorrow": (
        "I am sorry to hear that. Would you rather talk about it, or go on with our work?",
        "That must be hard. Thank you for telling me. What would help you right now?",
    ),
    "frustration": (
        "That sounds hard, and it is all right to feel that way. What about it bothers you most?",
        "I hear you. Let us make it smaller: what is one thing in it that you can do?",
        "That is a fair thing to feel. Shall we try one small step together, or take a short break first?",
    ),
    "instruction": (
        "I stay with our lesson. What would you like to work on?",
        "That is not something I do. Which part of your work shall we look at?",
    ),
    "foreign": (
        "I follow English best and may miss what you mean by {quote}. Can you say it in English, or with numbers?",
        "I am sorry, I read only English well. Could you say {quote} in simple English words?",
        "I am sorry, I read only English well. Could you say it in simple English words?",
        "I may miss what you mean, since I follow English best. Can you write it in English, or with numbers?",
    ),
    "unreadable": (
        "I am not sure what {quote} means. Can you say it another way?",
        "I am not sure what you mean. Can you say it in other words?",
        "I could not read that. What would you like to work on?",
    ),
}

FOREIGN = {
    "de": "Leider lese ich nur Englisch gut. Kannst du es auf Englisch sagen?",
    "es": "Lo siento, solo leo bien el inglés. ¿Puedes decirlo en inglés?",
    "fr": "Désolé, je ne lis bien que l'anglais. Peux-tu le dire en anglais ?",
    "it": "Mi dispiace, leggo bene solo l'inglese. Puoi dirlo in inglese?",
    "nl": "Sorry, ik lees alleen Engels goed. Kun je het in het Engels zeggen?",
    "pl": "Przepraszam, dobrze czytam tylko po angielsku. Czy możesz napisać to po angielsku?",
    "pt": "Desculpa, só leio bem inglês. Podes dizê-lo em inglês?",
    "tr": "Üzgünüm, yalnızca İngilizceyi iyi okuyorum. Bunu İngilizce yazabilir misin?",
    "ru": "Извини, я хорошо понимаю только по-английски. Можешь сказать это по-английски?",
    "uk": "Вибач, я добре розумію лише англійську. Можеш сказати це англійською?",
    "ar": "عذرًا، أنا أقرأ الإنجليزية فقط جيدًا. هل يمكنك كتابة ذلك بالإنجليزية؟",
    "hi": "माफ़ करना, मैं केवल अंग्रेज़ी अच्छी तरह पढ़ता हूँ। क्या तुम इसे अंग्रेज़ी में लिख सकते हो?",
    "zh": "抱歉，我只擅长阅读英语。你能用英语说吗？",
}
"""What a student who writes another language is told in it, by ISO 639-1 code."""
