"""Plain signs of danger that must never be missed, beside the trained model (spec 20)."""

import re

from graphmem.model import ConcernKind

_KIN = (
    r"(?:(?:step|foster|grand)[ -]?)?(?:m[uo]m(?:my)?|mama|mother|da(?:d|ddy)?|papa|father|parents|brother|sis"
    r"ter|uncle|aunt|cousin|nan|gran(?:dad|dpa|dma|ny)?|boyfriend|girlfriend|bf|gf|ex|husband|wife|carer|coach"
    r"|teacher|tutor|priest|warden|babysitter|boss|landlord)"
)
_WHO = (
    r"(?:he|she|they|(?:my|his|her|their)(?: \w+)? (?:(?:step|foster|grand)[ -]?)?(?:m[uo]m(?:my)?|mama|mother"
    r"|da(?:d|ddy)?|papa|father|parents|brother|sister|uncle|aunt|cousin|nan|gran(?:dad|dpa|dma|ny)?|boyfriend"
    r"|girlfriend|bf|gf|ex|husband|wife|carer|coach|teacher|tutor|priest|warden|babysitter|boss|landlord)(?:'s"
    r" (?:new )?\w+)?|dad|mum|mom|mother|father|papa|someone|somebody|a (?:man|guy|boy)|the \w+)"
)
_ME = r"(?:me|us|my (?:little |baby |big |older |younger )?(?:sister|brother|mum|mom|mother|friend))"
_WEAPON = r"(?:gun|knife|knives|blade|machete|pistol|petrol|bomb|acid)"

_SIGNS: dict[ConcernKind, tuple[str, ...]] = {
    ConcernKind.SELF_HARM: (
        r"(?:kill|hurt|harm|hang|drown|cut|burn|stab|starv)(?:e|ed|s|t?ing)? (?:my|him|her|them)sel(?:f|ves)",
        (
            r"(?:i want|i wanna|she wants|he wants|wants|just want|don'?t want|wish|wish i could|ready|rather|planning"
            r") (?:to |i (?:was|were|could) )?(?:die\b(?! of| for| in)|be dead|dead\b|end (?:it(?: all)?|my life|every"
            r"thing)|not (?:exist|be here|wake up)|never (?:wake|been born))"
        ),
        (
            r"(?:do not|don'?t|doesn'?t|didn'?t|no longer) (?:want|wanna|wants)(?: to)? (?:live\b(?! in| with| near)|b"
            r"e alive|exist|be here any|wake up(?! early| at)|go on (?:living|any))"
        ),
        r"(?:end|take|took|taking|ending) (?:it all|(?:my|her|his|their) (?:own )?life)",
        r"better off (?:dead|without me)",
        r"no (?:point|reason) (?:in |to )?(?:liv|be alive|being alive|going on)",
        r"not worth living",
        r"(?:i'?m|i am|feel(?:ing)?|she'?s|he'?s|been) (?:\w+ )?suicidal",
        (
            r"(?:thought|think|thinking|talk|talks|talking|texted)\b.{0,15} (?:suicide|killing (?:my|her|him)self|dyin"
            r"g)"
        ),
        r"self[- ]harm(?!\w* (?:risk|screen|assess|aware))",
        r"overdos(?:e|ed|ing)",
        r"(?:cut|cuts|cutting|slit) (?:my|her|his) (?:own )?(?:arms?|wrists?|legs?|thighs?|skin)",
        (
            r"(?:(?:took|taken|take|swallow\w*) (?:\w+ ){0,2}(?:bunch|lot|lots|bottle|handful|all|too many|whole|half|"
            r"packet)\b|saved up|saving up|lined up|stash\w*).{0,30}(?:pills|tablets|paracetamol|meds)"
        ),
        (
            r"(?:i|i'?m|she'?s|he'?s) (?:\w+ )?(?:standing|sitting|going to jump|gonna jump|want to jump|will jump) (?"
            r":off|from|in front of|on) (?:the |a )?(?:bridge|roof|balcony|ledge|train|tracks|rails)\b"
        ),
        r"goodbye (?:letter|note)s?",
        r"go to sleep (?:and|&) (?:not|never) wake",
        r"wouldn'?t (?:mind|care) if i (?:died|didn'?t wake)",
        r"(?:nobody|no one)(?: would|'d| will) (?:even )?(?:miss me|notice if i)",
        r"me quiero morir",
        r"quiero (?:morirme?|matarme|desaparecer)",
        r"no quiero (?:seguir )?vivi",
        r"suicid(?:arme|armi|er\b)",
        r"quitarme la vida",
        r"me corto (?:los|las|en)",
        r"(?:will|möchte|mag|wollte) (?:einfach )?(?:nicht mehr (?:leben|da sein)|sterben)",
        r"(?:bring|bringe) mich (?:\w+ )?um",
        r"mich umbringen",
        r"ritze? (?:ich )?mich",
        r"einfach nicht mehr da",
        r"(?:veux|voudrais|envie de) (?:plus vivre|mourir|me tuer|me suicider|en finir|disparaître)",
        r"je me (?:coupe|scarifie|mutile)",
        r"plus envie de vivre",
        r"ölmek istiyorum",
        r"intihar",
        r"kendimi (?:öldür|kes|as)",
        r"yaşamak istemiyorum",
        r"yaşamaktan .{0,6}yoruldum",
        r"uyanmasam",
        r"kollarımı .{0,6}kes",
        r"(?:أريد|اريد|أفكر|بدي|اتمنى|أتمنى).{0,18}(?:أموت|اموت|الموت|الانتحار)",
        r"(?:أقتل|اقتل|أؤذي|أجرح) نفسي",
        r"انتحر",
        r"لا أريد أن أعيش",
        r"chcę (?:umrzeć|zniknąć|się zabić)",
        r"zabi(?:ję|ć) się",
        r"nie chc(?:ę|e) (?:już |mi się )?żyć",
        r"tnę się",
        r"samobój",
        r"(?:quero|vontade de|queria) (?:morrer|me matar|sumir|desaparecer)",
        r"não quero (?:mais )?(?:viver|existir)",
        r"tirar (?:a )?minha (?:própria )?vida",
        r"me corto",
        r"想死",
        r"不想活",
        r"自杀",
        r"自殺",
        r"自残",
        r"割腕",
        r"结束.{0,5}生命",
        r"活着没意思",
        r"跳楼",
        r"मर(?:ना| जाना) चाहत",
        r"आत्महत्या",
        r"जीना नहीं",
        r"सब खत्म कर",
        r"खुद को (?:मार|काट)",
        r"marna chaht",
        r"mar jaana",
        r"jeena nahi",
        r"khudkushi",
        r"khud ko (?:maar|kaat)",
        r"(?:voglio|vorrei) (?:solo )?(?:morire|uccidermi|ammazzarmi|farla finita|sparire)",
        r"non voglio (?:più )?vivere",
        r"mi taglio (?:le|i|la)",
    ),
    ConcernKind.ABUSE: (
        r"(?:do not|don'?t|doesn'?t|never) feel safe (?:at home|with (?:him|her|them|my))",
        (
            r"<who> (?:\w+ )?(?:hits?|beats?|slap(?:s|ped)|punch(?:es|ed)?|kick(?:s|ed)|chok(?:es|ed)|whip(?:s|ped)|bu"
            r"rn(?:s|ed|t)|belts|canes?|throttle[sd]?|strangle[sd]?) (?:on )?<me>\b(?! to the| at| in (?:a|the)| up\b)"
        ),
        r"(?:locks?|chain(?:s|ed)) me (?:in|out|up)\b",
        r"(?:scared|afraid|terrified|frightened) (?:to go home|of going home|of (?:my )?<kin>\b)",
        r"gets? (?:the|his|her) belt\b",
        r"me pega(?:n|ba|ó)?\b",
        r"(?:papa|mama|vater|mutter|stiefvater)\w* (?:schlägt|prügelt|haut)",
        r"schlägt mich",
        r"(?:me|nous) (?:frappe|bat|tape)\b",
        r"(?:beni|bizi|annemi|bana) .{0,12}(?:dövüyor|vuruyor|dövdü)",
        r"(?:يضربني|تضربني|ضربني|يضرب أمي|يضرب امي)",
        r"(?:bije|bił|uderzył|leje) (?:mnie|mamę)",
        r"mnie bije",
        r"me bate",
        r"bate em mim",
        r"me espanca",
        r"(?:打我|抽我|揍我|家暴)",
        r"(?:मारते|पीटते|मारता|पीटता) (?:हैं|है)",
        r"mujhe (?:maarte|maarta|peet)",
        r"mi (?:picchia|mena|prende a (?:botte|cinghiate))",
    ),
    ConcernKind.SEXUAL_ABUSE: (
        r"\braped?\b(?!seed)",
        r"molest(?:s|ed|ing)?\b",
        r"grooming me",
        r"sexually (?:assault|abus)\w+",
        (
            r"(?:touch(?:es|ed|ing)|grop(?:es|ed|ing)|grabs?|grabbed) (?:me|my (?:chest|bum|breasts?|private\w*|thigh|"
            r"leg)|us|her) ?(?:there|down|under|in (?:the )?(?:bed|shower|changing|dark)|when|again|where|like)"
        ),
        (
            r"(?:uncle|stepdad|step-dad|cousin|coach|teacher|priest|tutor|babysitter|stepbrother)\b.{0,25} touch(?:es|"
            r"ed) (?:me|my)"
        ),
        (
            r"(?:asks?|asked|asking|wants?|send|sent|share|post|leak)\b.{0,30}\b(?:nudes?|naked|topless|pics? of (?:me"
            r"|my))"
        ),
        (
            r"(?:made|makes|forc\w+|wants) me (?:to )?(?:touch|undress|take (?:off )?my (?:clothes|top|shirt)|have sex"
            r"|kiss him)"
        ),
        r"comes? in(?:to)? my (?:room|bed) at night",
        r"me (?:viol[óo]|toca(?:n|ba)? (?:ahí|las|la|el|por)|manosea)",
        r"fotos? (?:mías )?desnud",
        r"nacktbild",
        r"nackt ?foto",
        r"fasst mich (?:an|immer|unten)",
        r"vergewaltig",
        r"m'a viol",
        r"me touche (?:là|entre|sous|les)",
        r"photos? (?:de moi )?nue",
        r"tecavüz",
        r"çıplak (?:foto|resim)",
        r"bana dokun(?:uyor|du)",
        r"(?:يلمسني|لمسني|اغتصب|يتحرش|صور.{0,8}عار)",
        r"zgwałc",
        r"dotyka mnie",
        r"nagie zdj",
        r"me estupr",
        r"abus(?:ou|a) de mim",
        r"passa a mão em mim",
        r"(?:强奸|性侵|裸照|猥亵|摸我)",
        r"(?:बलात्कार|छूता है|छूते हैं|नंगी)",
        r"nangi photo",
        r"mi (?:tocca|palpa) (?:lì|sotto|le|il)",
        r"violentat",
        r"foto nuda",
        r"mie foto nud",
    ),
    ConcernKind.VIOLENCE: (
        (
            r"(?:has|have|had|got|pulled|showed(?: me)?|carr(?:y|ies|ied|ying)|with|brought|brings?|bringing|held|hold"
            r"ing) (?:out )?(?:a |the |his |her |my dad'?s |my |an )?(?:\w+ )?<weapon>\b.{0,50}\b(?:me|us|school|mum|m"
            r"om|mother|him|her|throat|face|bag|tomorrow|next)\b"
        ),
        (
            r"(?:said|says|told|threaten\w*|texted|swore|sworn|gonna|going to|will|'?ll|wants? to) (?:he'?d |he'?ll |s"
            r"he'?d |she'?ll |they'?d |they'?ll |to |that )*(?:kill|stab|shoot|batter|jump|beat|hurt) (?:me|us|my (?:m"
            r"um|mom|sister|brother)|mum)\b(?! if i (?:don'?t|forget|lose|fail)| when (?:she|he) sees| for)"
        ),
        r"death threats?",
        r"(?:follow(?:s|ed|ing)|stalk(?:s|ed|ing)) me (?:home|to my|from|again)",
        r"(?:jumped|stabbed|shot|mugged) (?:me|us|my (?:brother|friend|cousin))\b",
        r"me (?:amenaz|va a matar)",
        r"(?:cuchillo|navaja|pistola).{0,25}(?:mamá|mi madre|matar|amenaz)",
        r"bedroht (?:mich|uns|mama)",
        r"(?:messer|pistole).{0,25}(?:bedroht|mich|mama)",
        r"va (?:me|nous) tuer",
        r"me menace",
        r"couteau .{0,20}(?:ma mère|maman|moi)",
        r"öldürecek",
        r"bıçakla",
        r"bıçak .{0,15}(?:çekti|dayadı)",
        r"(?:سكين|مسدس).{0,25}(?:يهدد|أمي|يقتل)",
        r"سيقتل(?:ني|نا|ها)",
        r"يهدد(?:ني|نا| أمي)",
        r"grozi (?:mi|nam|mamie|nożem)",
        r"zabije (?:mnie|nas|mamę)(?! jak|,? (?:bo|jeśli))",
        r"com (?:uma )?faca",
        r"(?:vai|ia) me matar se eu (?:contar|falar|sair)",
        r"(?:拿刀|砍我|杀了我|要杀)",
        r"(?:चाकू|जान से मार)",
        r"jaan se maar",
        r"chaku",
        r"coltello .{0,20}(?:mamma|gola|contro)",
        r"ci minaccia",
        r"mi minaccia",
    ),
    ConcernKind.THREAT_TO_OTHERS: (
        (
            r"(?:i'?m|i am|i'?ll|i will|gonna|going to|wanna|want to|could|might|he'?s|plans? to|planning to) (?:\w+ )"
            r"?(?:kill|stab|shoot|poison|hurt) (?:him|her|them|someone|somebody|everyone|every one|people|my (?:brothe"
            r"r|sister|mum|mom|dad|teacher|stepdad|boss)|that (?:boy|girl|teacher))\b(?!.{0,25}(?:lol|haha|😂|lmao|game"
            r"|level|pun|joke|boss))"
        ),
        r"(?:shoot|blow|burn)(?:ing)? (?:up|down) (?:the|our|this|my) (?:school|class|house)",
        (
            r"(?:bring|take|put|got)\w* (?:my (?:dad'?s )?|a |the )?<weapon> (?:to|into|in) (?:school|class|my (?:bag|"
            r"locker))"
        ),
        r"kill ?list",
        r"hit list",
        r"don'?t come to school (?:tomorrow|tmrw|on)",
        r"(?:voy|va) a matar(?:lo|la|los)",
        r"bringe? (?:ihn|sie|euch|alle) um",
        r"(?:vais|va) (?:le|la|les) (?:tuer|planter)",
        r"(?:onu|onları|hepsini) öldüreceğim",
        r"سأقتل(?:ه|ها|هم)",
        r"zabiję (?:go|ją|ich)",
        r"vou matar (?:ele|ela|eles|todo)",
        r"书包里.{0,4}刀",
        r"(?:杀了他|弄死他)",
        r"usko maar dunga",
        r"lo (?:ammazzo|accoltello)",
    ),
    ConcernKind.NEGLECT: (
        (
            r"(?:no|nothing|any|without|hasn'?t been|isn'?t any) (?:proper )?(?:food|to eat)(?: in the (?:house|fridge"
            r")| at home| for (?:two|three|\d) days| since)"
        ),
        (
            r"(?:home alone|left (?:me|us)(?: all)? (?:alone|by (?:my|our)selves)|on (?:my|our) own).{0,25}(?:days|wee"
            r"k|nights?|since (?:monday|friday|thursday|saturday))"
        ),
        r"haven'?t eaten (?:since|for|in) (?!lunch|breakfast)",
        (
            r"(?:sleep|sleeping|slept) (?:in (?:the |a )?(?:car|park|street|bus)|rough|on the street|at the (?:bus|tra"
            r"in))"
        ),
        r"no hay (?:nada de )?comida",
        r"nichts zu essen",
        r"rien à manger",
        r"evde yemek yok",
        r"لا (?:يوجد )?طعام",
        r"nie ma (?:nic )?(?:do )?jedz",
        r"não tem comida",
        r"家里没(?:有)?(?:吃|饭)",
        r"खाना नहीं (?:मिल|है|दे)",
        r"khana nahi",
        r"niente da mangiare",
        r"non c'è (?:da mangiare|cibo)",
    ),
    ConcernKind.EATING: (
        r"(?:mak(?:e|es|ing)|made) (?:my|her|him)self (?:throw up|vomit|sick|puke)",
        (
            r"(?:throw(?:s|ing)? up|vomit\w*|purg(?:e|es|ing)|sick) (?:after|every|what i)\b.{0,15}(?:meal|eat|lunch|d"
            r"inner|food)?"
        ),
        (
            r"(?:stopped|not|hardly|barely|haven'?t|hasn'?t|nothing) (?:been )?(?:eat(?:ing|en)?|ate)\b.{0,25}(?:days|"
            r"weeks?|fat|thin|skinny|weigh)"
        ),
        r"(?:laxatives|anorexi[ac]|bulimi[ac])\b.{0,40}\b(?:i|my|me|she|her)\b",
        r"\b(?:i|my|me|i'm|she)\b.{0,30}(?:laxatives|anorexi[ac]|bulimi[ac])",
        r"(?:fainted|faint|dizzy|passed out)\b.{0,40}(?:eat|ate|food|calories)",
        r"thinspo",
        r"pro[- ]?ana",
        r"vomito (?:lo que|después|todo)",
        r"provoco o vómito",
        r"(?:kotze|erbreche|übergebe mich).{0,20}(?:essen|jedem)",
        r"esse (?:fast )?nichts mehr",
        r"je (?:me fais|vomis).{0,12}(?:vomir|repas|après)",
        r"kus(?:uyorum|turuyorum)",
        r"أتقيأ",
        r"wymiotuj",
        r"(?:催吐|不吃东西)",
        r"उल्टी कर(?:ती|ता)",
        r"ulti kar",
        r"mi faccio vomitare",
        r"vomito (?:dopo|tutto)",
    ),
    ConcernKind.SUBSTANCE: (
        (
            r"(?:i|i'?m|i'?ve|my (?:mum|mom|dad|brother|sister|friend|mate)|she|he|we|they)\b.{0,25}\b(?:ketamine|ket|"
            r"coke|cocaine|heroin|meth|fentanyl|xanax|xans|mdma|molly|spice|lean|nos|oxy|pills from)\b"
        ),
        (
            r"(?:drunk|drinking|drink|vodka|wine|gin) (?:every (?:day|night|morning)|before school|alone|to (?:sleep|c"
            r"ope|forget))"
        ),
        r"blacked out\b.{0,30}(?:drink|drunk|vodka|party|pill)",
        r"(?:spiked|put something in) (?:my|her) drink",
        r"sniff(?:ing|ed)? (?:glue|gas|aerosol|deodorant|petrol)",
    ),
    ConcernKind.BULLYING: (
        r"(?:bully(?:ing)?|bullies|bullied|tormenting|picking on) (?:me|her|him)\b",
        r"(?:i'?m|i am|i'?ve been|i (?:keep )?get(?:ting)?) (?:\w+ )?bullied",
        r"(?:told|tells?|telling|said|says) (?:me|her|him) to (?:kill (?:my|her|him)self|kys|die)\b",
        r"\bkys\b",
        r"(?:hold|held|push(?:ed)?|put|shov\w+) my (?:head|face) (?:in|down|into)",
        r"(?:spit|spat|piss\w*|pee'?d|peed) (?:on|in) (?:me|my)",
        r"me hacen bullying",
        r"werde gemobbt",
        r"mobben mich",
        r"me harcèl",
        r"harcelée?",
        r"zorbal",
        r"يتنمر",
        r"gnębią mnie",
        r"sofro bullying",
        r"霸凌",
        r"欺负我",
        r"堵我",
        r"bullizza",
    ),
    ConcernKind.OTHER_DANGER: (
        r"(?:run|ran|running) away (?:from home|tonight|tomorrow|and)",
        r"(?:forc\w+|make|making|made) (?:me )?(?:to )?(?:marry|get married)",
        r"(?:forced|arranged) (?:marriage|to marry)",
        r"(?:taking|sending|take|send) me (?:back )?(?:to|abroad).{0,40}(?:marry|wedding|cut|married)",
        (
            r"(?:won'?t|not) let me (?:leave|go home|out)\b(?! until i| of (?:the )?(?:room|class)).{0,30}(?:passport|"
            r"phone|locked|door|flat)"
        ),
        r"took (?:my|our) passports?",
        r"(?:locked|trapped|stuck) in (?:a |the |his )?(?:car|flat|boot|room|house|basement) (?:with|by)",
        (
            r"meet(?:ing)? (?:him|up|a man|someone|this guy)\b.{0,40}(?:online|secret|don'?t tell|nobody knows|hotel|a"
            r"lone)"
        ),
        r"county lines",
        r"deliver (?:a |the )?(?:package|packages|bag|parcel)s? for",
    ),
}
"""Alternatives of a pattern for each kind: English, then ten other languages; `<who>` and the like are named above."""


_FICTION = re.compile(
    r"\b(?:in|from|of) (?:the|this|that|my|a) (?:\w+ )?(?:book|story|novel|film|movie|series|show|game|play|poem)s?\b"
    r"|\b(?:macbeth|romeo|juliet|hamlet|minecraft|roblox|fortnite|zombies?|creeper|squad)\b"
    r"|\b(?:this|next|last) (?:level|chapter|episode|act|scene)\b",
    re.IGNORECASE,
)


def _pattern(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    whole = "|".join(alternatives)
    for name, value in (("<who>", _WHO), ("<me>", _ME), ("<weapon>", _WEAPON), ("<kin>", _KIN)):
        whole = whole.replace(name, value)
    return re.compile(whole, re.IGNORECASE)


_PATTERNS = {kind: _pattern(alternatives) for kind, alternatives in _SIGNS.items()}


def danger_sign(text: str) -> ConcernKind | None:
    """The kind of the first plain sign of danger in a text; None where there is none, or a story or game is told.

    Parameters
    ----------
    text : str, with straight apostrophes

    Examples
    --------
    >>> danger_sign("i dont know, i want to kill myself").value, danger_sign("kein Bock, ich will sterben").value
    ('self_harm', 'self_harm')
    >>> danger_sign("This homework kills me.") is None
    True
    """
    kind = next((kind for kind, pattern in _PATTERNS.items() if pattern.search(text)), None)
    return None if kind is None or _FICTION.search(text) else kind
