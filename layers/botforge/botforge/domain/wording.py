"""How a message is worded: what of its form hints at a wish to act or a wish to know.

Every feature is a pattern that either occurs or not, or a bounded number. English; in other languages most are 0, and
the router then rests on the embedding and on the bot's tools.
"""

import math
import re

MAX_CHARACTERS = 2000  # of a longer message the beginning counts

_WISH = (
    r"i(?:'d| would) (?:like|love|want|prefer)|i (?:want|need|wish|wanna)|i(?:'m| am) (?:looking|trying|hoping)|i gotta"
)
_ASK = r"(?:can|could|would|will) (?:you|u|ya)|can i (?:get|have)|(?:do|would) you mind|mind"
_ACT = (
    "add|alert|apply|arrange|ask|assign|book|bring|buy|calculate|call|cancel|change|check|clear|close|compute|connect|"
    "convert|copy|create|decrease|delete|deploy|dial|disable|download|draft|draw|edit|email|enable|estimate|evaluate|"
    "execute|export|factor|fetch|file|fill|filter|find|flip|forward|freeze|generate|get|grab|hand|hire|import|increase|"
    "initiate|insert|install|integrate|invite|launch|let|list|locate|lock|look|lower|make|mark|message|move|multiply|"
    "mute|notify|open|order|page|park|pause|pay|pick|pin|place|plan|play|plot|post|predict|print|process|pull|purchase|"
    "put|raise|rate|read|record|redeem|refresh|register|remind|remove|rename|rent|replace|reply|report|request|reschedule|"
    "reserve|reset|restart|resume|retrieve|return|review|ring|roll|run|save|schedule|scan|search|select|sell|send|set|"
    "share|shut|sign|simulate|skip|solve|sort|spell|start|stop|submit|subscribe|subtract|switch|sync|take|text|tell|top|"
    "track|transfer|translate|turn|undo|unlock|update|upgrade|upload|use|verify|view|wake|withdraw|write"
)
_TELL = (
    r"(?:tell|teach|show|give|remind) (?:me|us) (?:more |something |a bit |all )?(?:about|how|why|what|who|when|where)"
)
_EXPLAIN = "explain|describe|define|compare|discuss|summari[sz]e|elaborate|outline|clarify|name|state|identify|tell"
_TIME = (
    r"today|tonight|tomorrow|yesterday|now|currently|right now|at the moment|this (?:morning|afternoon|evening|week|"
    r"weekend|month|year)|next (?:week|weekend|month|\w+day)|last (?:week|month|night)|\w+day|noon|midnight|"
    r"\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m|p\.m|o'clock)|january|february|march|april|june|july|august|september|october|"
    r"november|december|\d{4}-\d\d-\d\d|(?:in|for|next|last) \w+ (?:minutes?|hours?|days?|weeks?|months?)"
)
_MANNERS = (
    r"^(?:(?:hi|hello|hey|hiya|ok|okay|so|well|alright|great|yes|no|please|pls|kindly|now|and|then|also|just|quickly|"
    r"siri|alexa)[,.! ]+)*"
)
_CURIOUS = (
    r"\b(?:want|like|love|need|curious|wonder(?:ing)?|interested) (?:\w+ )?(?:to )?"
    r"(?:know|learn|understand|about|in|if|why|how)\b"
)
_KNOWLEDGE = (
    r"mean|meaning|definition|defined|differences?|purpose|cause[sd]?|reasons?|history|origin|effects?|symptoms?|"
    r"types?|kinds?|benefits?|advantages?|examples?"
)
_RULES = (
    r"policy|policies|rules?|requirements?|eligible|eligibility|allowed|require[ds]?|required|need to|have to|"
    r"documents?|fees?|charge[ds]?|costs?|hours|process|procedure|steps|guidelines?|conditions?|limits?|deadline|"
    r"supposed to"
)
_UNIT = (
    r"kg|g|mg|km|m|cm|mm|ft|feet|inch(?:es)?|miles?|lbs?|pounds?|m/s|mph|km/h|degrees?|°|celsius|fahrenheit|l|liters?|"
    r"litres?|hours?|minutes?|seconds?|years?|days?|joules?|newtons?|volts?|moles?|people|persons?|guests?|tickets?"
)
_STATE = (
    "status|balance|available|availability|track|due|remaining|left|latest|current|live|real-time|forecast|price of"
)

# (name, pattern); the names are the columns of the trained head, in this order.
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("starts_what", _MANNERS + r"(?:what|whats|what's)\b"),
    ("starts_who", _MANNERS + r"(?:who|whom|whose|who's)\b"),
    ("starts_when", _MANNERS + r"when\b"),
    ("starts_where", _MANNERS + r"where\b"),
    ("starts_why", _MANNERS + r"why\b"),
    ("starts_which", _MANNERS + r"which\b"),
    ("starts_how", _MANNERS + r"how\b"),
    ("starts_how_much", _MANNERS + r"how (?:much|many|long|far|old|often|big|tall|fast)\b"),
    ("starts_how_to", _MANNERS + r"how (?:to|do|does|did|can|could|should|would|is|are|was|were)\b"),
    ("starts_be", _MANNERS + r"(?:is|are|was|were|am|isn't|aren't)\b"),
    ("starts_do", _MANNERS + r"(?:do|does|did|don't|doesn't|didn't|has|have|had)\b"),
    ("starts_may", _MANNERS + r"(?:can|could|may|should|must|will|would|might|shall)\b(?! (?:you|u|ya)\b)"),
    ("starts_preposition", _MANNERS + r"(?:in|on|of|for|by|from|to|at|with|under|during|according)\b"),
    ("starts_ask", _MANNERS + rf"(?:{_ASK})\b"),
    ("starts_wish", _MANNERS + rf"(?:{_WISH})\b"),
    ("starts_i", _MANNERS + r"(?:i|i'm|i've|i'd|i'll|my|we|our)\b"),
    ("starts_help", _MANNERS + r"(?:help|assist|let's|lets)\b"),
    ("starts_act", _MANNERS + rf"(?:{_ACT})\b"),
    ("starts_explain", _MANNERS + rf"(?:{_EXPLAIN})\b"),
    ("starts_tell", _MANNERS + _TELL),
    ("starts_article", _MANNERS + r"(?:the|a|an|this|these|those)\b"),
    ("starts_polite", r"^(?:please|pls|kindly)\b"),
    ("asks_you", rf"\b(?:{_ASK})\b"),
    ("wishes", rf"\b(?:{_WISH})\b"),
    ("please", r"\b(?:please|pls|kindly)\b"),
    ("help_me", r"\b(?:help|assist) (?:me|us)\b"),
    ("for_me", r"\b(?:for|to) (?:me|us)\b"),
    ("verb_me", rf"\b(?:{_ACT}) (?:me|us)\b"),
    ("acts_on_mine", rf"\b(?:{_ACT}) (?:\w+ ){{0,3}}(?:my|our)\b"),
    ("asks_then_acts", rf"\b(?:{_ASK})(?: \w+){{0,3}}? (?:{_ACT})\b"),
    ("wishes_to_act", rf"\b(?:{_WISH}) (?:to |you to |for )?(?:{_ACT})\b"),
    ("asks_to_explain", rf"\b(?:{_ASK})(?: \w+){{0,2}}? (?:{_EXPLAIN}|know|help me understand)\b"),
    ("tell_about", _TELL),
    ("wants_to_know", _CURIOUS),
    ("first_person", r"\b(?:i|me|i'm|i've|i'd|i'll)\b"),
    ("mine", r"\b(?:my|mine)\b"),
    ("ours", r"\b(?:we|us|our)\b"),
    ("you", r"\b(?:you|your)\b"),
    ("it", r"\b(?:it|its|they|their|them|he|his|she|her)\b"),
    ("do_i", r"\b(?:do|does|can|should|may|must|will|am|are) (?:i|we|one|you guys|they)\b"),
    ("i_have", r"\b(?:do i have|have i|did i|i have|i've|i had)\b"),
    ("past_be", r"\b(?:was|were|did|had)\b"),
    ("is_a", r"\b(?:what|who)(?:'s| is| are| was| were|s)\b"),
    ("mean", rf"\b(?:{_KNOWLEDGE})\b"),
    ("policy", rf"\b(?:{_RULES})\b"),
    ("does_it", r"\b(?:does|do|is|are|can) (?:the|a|an|this|that|there|your|it|\w+s)\b"),
    ("if_when", r"\b(?:if|when|while|unless|before|after)\b"),
    ("time", rf"\b(?:{_TIME})\b"),
    ("money", r"[$€£¥]|\b(?:dollars?|euros?|usd|eur|gbp|pounds?|bucks|rupees?)\b"),
    ("percent", r"%|\bper ?cent\b"),
    ("number", r"\d"),
    ("numbers", r"\d.*?[^\d.,:/-].*?\d"),
    ("list_of_numbers", r"\[[-\d., ]+\]|\d+(?:\.\d+)?, ?\d+(?:\.\d+)?, ?(?:and )?\d"),
    ("measured", rf"\d ?(?:{_UNIT})\b"),
    ("arithmetic", r"\d ?(?:[-+*/^x×÷=]|plus|minus|times|divided by) ?\d"),
    ("identifier", r"\b(?=\w*\d)(?=\w*[A-Za-z])\w{5,}\b|#\d+|\b\d{5,}\b"),
    ("address", r"https?://|www\.|\S+@\S+\.\w|\b\w+\.(?:com|org|net|io|pdf|txt|csv|json|html|py)\b"),
    ("quoted", "[\"“”]|(?<!\\w)'[^']+'(?!\\w)"),
    ("two_sentences", r"[.!?] +\S"),
    ("question_mark", r"\?"),
    ("ends_full_stop", r"\.\s*$"),
    ("exclaims", r"!"),
    ("article_noun", r"\b(?:the|a|an)\b"),
    ("comparative", r"\b(?:most|best|largest|biggest|first|oldest|highest|longest|famous|more|better|than)\b"),
    ("nearby", r"\b(?:near(?:by| me)?|close to|closest|nearest|around here|in my area|from here)\b"),
    ("status", rf"\b(?:{_STATE})\b"),
    ("how_to", r"\bhow (?:to|do i|do you|does one|can i|should i|would i|do we|can you|can we)\b"),
    ("advice", r"\b(?:should|ought|advice|recommend(?:ed)?|safe|okay|ok|normal|possible|necessary|important|better)\b"),
)  # fmt: skip

_COMPILED = tuple(re.compile(pattern) for _, pattern in _PATTERNS)
_CAPITAL = re.compile(r"(?<=[a-z,;] )[A-Z]")
_WORD = re.compile(r"\w+")
_FOLDS = str.maketrans({"’": "'", "‘": "'", "`": "'"})

NAMES: tuple[str, ...] = (*(name for name, _ in _PATTERNS), "words", "short", "capitals", "cased", "foreign")


def wording(text: str) -> tuple[float, ...]:
    """One number from 0 to 1 for each of ``NAMES``."""
    text = text[:MAX_CHARACTERS].translate(_FOLDS).strip()
    lower = text.lower()
    words = len(_WORD.findall(text))
    letters = [character for character in text if character.isalpha()]
    foreign = sum(character > "\u024f" for character in letters) / len(letters) if letters else 0.0
    return (
        *(float(pattern.search(lower) is not None) for pattern in _COMPILED),
        min(1.0, math.log1p(words) / 4),
        float(words <= 4),
        min(1.0, len(_CAPITAL.findall(text)) / 4),
        float(text[:1].isupper()),
        foreign,
    )
