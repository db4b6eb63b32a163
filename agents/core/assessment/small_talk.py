"""Messages that only greet, thank, take leave or acknowledge: all of their words do.

`Thanks, and what is the deadline?` asks for the deadline. Patterns of whole pieces of folded text, for `consists_of`.
"""

from agents.core.language.tiles import pieces

# --- who is spoken to, and small words beside the point ---------------------------------------------------------------

ADDRESSED = (
    r"ai|bot|assistant|alexa|siri|google|computer|robot|friend|buddy|dude|man|mate|pal|sir|madam|everyone|all|"
    r"folks|team|"
    r"there|guys|again|my (?:friend|ai|dear)|"
    r"assistente|robo|amig[oa]s?|pessoal|gente|galera|cara|car[oa]s?|meu caro|senhor[a]?|voces"
)
SMALL = (
    r"oh|ah|well|why|so|uh|and|but|then|now|please|pls|just|really|very|sweet|wow|hm+|eh|"
    r"ah|entao|bem|e|mas|agora|por favor|pfv?r?|so|muito|nossa|ai|la|viu|ne|a voce|a vc|para voce|pra voce|a todos"
)
FILLERS = pieces(ADDRESSED, SMALL)

# --- English ----------------------------------------------------------------------------------------------------------

_YOU = r"(?:you|ya|u|y'all)"
_WELL = r"(?:ok|okay|well|good|alright|all right|fine|great)"
_WHEN = (
    r"(?:today|tonight|right now|now|lately|so far|this (?:fine |lovely )?(?:day|morning|afternoon|evening)|"
    r"on this (?:fine )?day)"
)
_LIFE = r"(?:it|things|everything|life|your (?:day|morning|evening|week|weekend)|the family|all)"
_NICE = r"(?:nice|good|great|lovely|fun|cool|pleasant|enjoyable|wonderful|a pleasure|my pleasure|awesome)"
_TALK = r"(?:talk|speak|chat|convers|catch up|catching up|see|meet|hear|work|get in touch|be)"
_THANKS = r"(?:thanks|thank (?:you|u|ya)|thx|ty|tks|cheers|much obliged|many thanks|gracias|merci(?: beaucoup)?)"
_HELP = (
    r"(?:help|assistance|support|answers?|info|information|response|advice|time|effort|efforts|explanation|"
    r"kindness)"
)

GREETINGS = (
    r"h+e+y+(?: hey)*|h+i+(?: hi)*|hiya|heyo|hello+|howdy|yo|hola|aloha|bonjour|ahoy(?: hoy)?|salutations|"
    r"greetings(?: to you)?|good (?:morning|afternoon|evening|day)|morning|welcome back|wake up|anyone there|"
    r"(?:i )?(?:just )?(?:wanted|want) to say (?:hi|hello|hey)|say (?:hi|hello)",
    rf"(?:what'?s|what is|wh?at'?s|wa+ss?) ?(?:up|new|happening|going on|good|crackin|poppin)(?: with {_YOU})?|"
    rf"wassup|sup",
    rf"(?:(?:can|could) you )?(?:tell me )?how (?:you'?re|you'?ve) (?:doing|been|feeling)(?: {_WHEN})?|"
    rf"(?:(?:can|could) you )?(?:tell me )?how(?:'?s| is| are|'?re| r|'?ve| have| has|'?d)? ?(?:{_YOU}|{_LIFE})"
    rf"(?: (?:is|are|been|have been))?(?: (?:doing|going|goin|doin|been|feeling|hanging|treating {_YOU}))*"
    rf"(?: (?:okay|ok|well))?(?: (?:with|for) {_YOU})?(?: {_WHEN})?",
    rf"how (?:{_YOU} )?(?:do|did) {_YOU} (?:do|feel)(?: {_WHEN})?|how goes (?:it|everything)|how you (?:are|"
    rf"doing|been)|"
    rf"how (?:ya|you'?ve) (?:doin|doing|been)|how is (?:my|the) (?:ai|assistant|bot) (?:doing|feeling)?",
    rf"(?:is|are) (?:{_YOU}|things|everything)(?: (?:doing|feeling|going))? {_WELL}(?: (?:with|for) {_YOU})?"
    rf"(?: {_WHEN})?",
    rf"have {_YOU} been {_WELL}",
    rf"(?:it'?s|it is|so)? ?(?:very |always |really )?{_NICE} to (?:see|meet|hear from) {_YOU}(?: again| too)*",
)
FAREWELLS = (
    r"(?:good|buh)?[ -]?bye+(?:[ -]bye)*(?: (?:to you|for now|now))?|tata(?: for now)?|ta ta|farewell|fairwell|"
    r"adios|ciao|"
    r"sayonara|toodles|so long|good night|goodnight|cheerio|peace(?: out)?|later|laters|"
    r"later (?:alligator|gator)|in a while",
    rf"(?:i(?:'| wi)?ll |we(?:'| wi)?ll )?(?:see|cya|catch|c) ?(?:{_YOU}|u)?(?: again)? ?"
    r"(?:later|soon|around|tomorrow|next time|then|in a (?:while|bit)|alligator|again|"
    r"on \w+day)+(?: (?:alligator|gator))?",
    rf"see {_YOU}|cya(?: later)?|(?:i(?:'| wi)?ll |we(?:'| wi)?ll )?(?:talk|speak|chat)(?: to {_YOU})? (?:later|"
    rf"soon|again soon|tomorrow)",
    r"until (?:next time|then|later|tomorrow)|take (?:care|it easy)|have (?:a|an) (?:\w+ )?(?:day|night|evening|"
    r"weekend|one|time|week|trip)",
    r"(?:i )?(?:have to|need to|must|gotta|got to|should|'?ve got to|am going to)? ?(?:say|saying) (?:good ?bye|"
    r"bye)(?: now)?|"
    r"(?:it'?s|it is) time to (?:say (?:good ?bye|bye)|go|leave)|i'?m saying (?:good ?bye|bye)(?: now)?|"
    r"i(?:'?ve got| have got| have|'?ve| need| got| must| should)? ?(?:to )?(?:go|run|leave|get going|"
    r"head out)(?: now)?|"
    r"i(?:'?m|'?ll be| am| will be) (?:leaving|out of here|outta here|off|heading out|going)(?: now)?|"
    r"gotta (?:go|run)",
    rf"(?:i )?(?:really )?(?:enjoyed|had (?:fun|a pleasure|a good time|a great time)) (?:our |this |the )?"
    rf"(?:{_TALK}(?:ing)?|chatting|conversation|chat)(?: (?:to|with) {_YOU}| {_YOU})?(?: again| today)?",
    rf"(?:i(?:'?m| am) )?(?:so |very )?glad (?:we|i) got to {_TALK}(?: (?:to|with) {_YOU})?(?: again| today)?",
    rf"(?:(?:it|this) (?:was|'?s been|has been) |it'?s been |always |that was )?(?:a |so |very |really |"
    rf"always )*{_NICE}"
    rf"(?: to be able)? ?(?:to )?(?:{_TALK}(?:t?ing)?|conversing|converse|chatting|get in touch|have (?:a|"
    rf"this) (?:conversation|chat))"
    rf"(?: (?:it )?(?:out|up))?(?: (?:to|with) {_YOU}| {_YOU})?(?: again| today| as always)*",
    rf"(?:(?:it|this) (?:was|has been) )?(?:a )?(?:nice|good|great|lovely|fun|pleasant) (?:chat|talk|"
    rf"conversation|session)|"
    rf"(?:this|it|that) was (?:fun|great|nice)|a pleasure as always(?: to {_TALK} (?:to|with) {_YOU})?|"
    r"(?:that'?s|that is|that will be) (?:all|it)(?: (?:i need(?:ed)?|for now|for today|thanks))?",
)
THANKS = (
    rf"(?:i )?(?:(?:want|need|would like|wanted|'?d like|have) to )?(?:just |really |can ?not |can't |let me )?"
    rf"{_THANKS}"
    rf"(?: (?:again|kindly|enough|so|very|much|a lot|a million|a bunch|loads|ever|once more))*"
    rf"(?: (?:so much|very much))?(?: (?:for|to) (?!nothing)[\w']+(?: [\w']+){{0,5}})?",
    r"(?:special|sincere|many|huge|big)? ?thanks (?:to you|for (?!nothing)[\w']+(?: [\w']+){0,5})",
    rf"(?:(?:i|we) )?(?:really |truly |greatly |also |do |certainly )?appreciate(?:d|s)?"
    rf"(?: (?:(?:your|the|that|this|all the|all your) (?:\w+ )?(?:{_HELP}|gesture|work)|"
    rf"you (?:helping|doing|answering|assisting|taking)(?: \w+){{0,4}}|what you (?:did|do|have done)|it|that|"
    rf"this|you))?"
    rf"(?: a lot| so much| very much)?",
    rf"(?:your|the) {_HELP} (?:is|are|was|were)(?: \w+)? (?:appreciated|enjoyable|good|great|helpful|perfect|nice)|"
    rf"(?:much )?appreciated|your {_HELP} (?:pleased|helped) me",
    rf"(?:i(?:'?m| am) |i'?ve been )?(?:so |very |really |truly |most )*(?:grateful|thankful|obliged|happy|glad|"
    rf"pleased)"
    rf"(?: (?:to|with|for|that))?(?: (?:you (?:did|helped|are|were)(?: \w+){{0,4}}|"
    rf"(?:your|the|that) (?:\w+ )?{_HELP}(?: you (?:just )?gave me)?|you))?",
    r"(?:i )?(?:have|offer)?(?: my| much)? ?(?:sincere |deepest )?gratitude(?: for [\w']+(?: [\w']+){0,4})?|"
    r"you have my (?:sincere |deepest |heartfelt )?(?:gratitude|thanks)|i owe you(?: one| big time| a lot)?|"
    r"good looking out",
    rf"{_YOU}(?:'?re| are|r|'?ve been| have been| were|'?s)? (?:the best|a doll|a star|a gem|a lifesaver|awesome|"
    rf"great|amazing|so kind|"
    r"very kind|so nice|so thoughtful|very helpful|(?:such )?a (?:big|great|huge) help|too kind)(?: (?:to|for|"
    r"and) [\w']+(?: [\w']+){0,6})?",
    rf"{_YOU} (?:did|do) (?:a )?(?:good|great|nice|fine|excellent|amazing) (?:job|work)|(?:good|great|nice|"
    rf"excellent|awesome) (?:job|work|answer)"
    rf"(?: (?:with|at|on) [\w']+(?: [\w']+){{0,3}})?|(?:you'?ve|you have) (?:been (?:a )?(?:\w+ )?help(?:ful)?|"
    rf"helped me(?: a lot)?)|"
    rf"you were so kind(?: to [\w']+(?: [\w']+){{0,3}})?|that'?s (?:very |really |so )?(?:helpful|kind|nice|"
    rf"great)(?: of you)?",
)
ACKNOWLEDGED = (
    r"got it|gotcha|understood|i (?:understand|see|get it)|makes sense|sounds good|noted|(?:ok|okay|k+|okey|"
    r"alright|all right)|"
    r"(?:that'?s |that is |really |so |very )?(?:great|perfect|cool|awesome|excellent|nice|wonderful|fantastic|"
    r"brilliant|amazing|lovely)|"
    r"that(?:'?ll| will) work|will do|never ?mind|no (?:worries|problem)|you(?:'?re| are) welcome|my pleasure|"
    r"congratulations|well done",
)

# --- Portuguese -------------------------------------------------------------------------------------------------------

_VOCE = r"(?:voce|vc|voces|vcs|tu|o senhor|a senhora)"
_TUDO = r"(?:tudo|td|blz)"
_BEM = r"(?:bem|bom|certo|joia|tranquil[oa]|beleza|blz|ok|em ordem|em paz|na paz|otim[oa])"
SAUDACOES = (
    r"o+i+(?:e|zinho)?(?: oi)*|ola+|opa+|alo+|hey|eae|e ai|eai|fala(?: ai)?|salve|saudacoes|bem[- ]vind[oa]s?|"
    r"(?:bom|boa|otim[oa]|excelente) (?:dia|tarde|noite|madrugada|manha|semana|feriado)(?: (?:a|para|"
    r"pra) (?:todos|todas|voce|voces|vc))?|bons? dias?",
    rf"(?:esta |ta |vai )?{_TUDO}(?: (?:esta|ta|vai))?(?: {_BEM})?(?: (?:com|por|e com|contigo)(?: {_VOCE}| ai|"
    rf" aqui)?)?|{_TUDO} {_BEM}(?: e {_VOCE})?|"
    rf"como (?:{_VOCE} )?(?:vai|vao|esta|tem passado|anda|andam|estao|ta|tao|passou|foi|e que (?:vai|esta))"
    rf"(?: {_VOCE}| as coisas| tudo| a vida| seu dia| o dia| voces)?(?: hoje| {_BEM})*|"
    rf"{_VOCE} (?:esta|ta|vai|anda) {_BEM}(?: hoje)?|(?:e )?{_VOCE}|beleza|blz|suave|de boa|qual (?:e )?a boa|"
    rf"quais as novidades|(?:e )?com {_VOCE}",
    rf"(?:muito )?prazer(?: em (?:te |lhe )?(?:conhecer|conhece-lo|conhece-la|ver|falar)(?: (?:com )?{_VOCE})?)?|"
    rf"(?:e )?bom (?:te ver|ver {_VOCE}|falar com {_VOCE})(?: de novo| novamente)?|tem alguem ai|alguem ai",
)
DESPEDIDAS = (
    r"tchau+(?: tchau)*|xau|adeus|ate (?:logo|mais|breve|amanha|a proxima|depois|la|mais tarde|segunda|ja|"
    r"outro dia|mais ver)|"
    r"falou|flw|fui|bye|(?:um )?(?:grande |forte )?(?:abraco|beijo)s?(?: (?:a|para|pra) (?:todos|voce|voces))?|"
    r"abs|bjs|att|"
    r"(?:nos )?(?:falamos|vemos)(?: depois| amanha| mais tarde)?|a gente se (?:fala|ve)(?: depois| amanha)?|"
    r"(?:tenha|tenham|bom|otimo) (?:um |uma |final de |fim de )?(?:bom |boa |otim[oa] |excelente )?(?:dia|tarde|"
    r"noite|semana|final de semana|fim de semana|trabalho|descanso)|"
    r"(?:eu )?(?:preciso|tenho que|tenho de|vou|ja vou|devo) (?:ir|sair|desligar|embora|indo)(?: embora| agora)?|"
    r"durma bem|se cuida|(?:era|e) (?:so|apenas) isso|so isso|por hoje e so",
    rf"(?:foi )?(?:muito )?bom (?:falar|conversar|papear) (?:com {_VOCE}|contigo)|gostei (?:de|"
    rf"muito de) (?:falar|conversar) com {_VOCE}",
)
AGRADECIMENTOS = (
    r"(?:muit[oa]s? |meu muito |mt )?(?:obrigad[oa]s?|obrigadao|obg|brigad[oa]|brigadao|gracias|"
    r"thanks)(?: (?:mesmo|demais|novamente|de novo|de coracao|mais uma vez))*"
    r"(?: (?:por|pel[oa]s?|a|ao|aos) [\w']+(?: [\w']+){0,5})?|"
    r"val(?:eu|ew)(?: (?:mesmo|demais|pel[oa]s? [\w']+(?: [\w']+){0,3}|por [\w']+(?: [\w']+){0,3}))?|"
    r"(?:eu )?(?:te |lhe |so |quero |gostaria de |queria )*(?:agradeco|agradecer|agradecemos|"
    r"agradecid[oa])(?: (?:muito|demais|imensamente|de coracao))*"
    r"(?: (?:por|pel[oa]s?|a|ao|sua|seu|o|desde) [\w']+(?: [\w']+){0,5})?|"
    r"(?:sou |fico |estou )?(?:muito |mt |imensamente )?grat[oa](?: (?:por|pel[oa]|a) [\w']+(?: [\w']+){0,4})?|"
    r"gratidao(?: (?:por|pel[oa]) [\w']+(?: [\w']+){0,4})?",
    rf"{_VOCE} (?:me )?(?:ajudou|ajuda)(?: muito| bastante| demais)*|(?:ajudou|ajuda) (?:muito|bastante|demais)|"
    rf"{_VOCE} e (?:o melhor|a melhor|demais|incrivel|otim[oa]|muito (?:bom|boa|gentil|legal))|(?:bom|otimo|"
    rf"excelente|belo) trabalho|foi de grande ajuda|te devo uma",
)
ENTENDIDO = (
    r"ok+|okay|okey|entendi(?: agora| tudo)?|entendido|compreendi(?:do)?|certo|ta (?:bom|bem|certo|otimo)|"
    r"esta (?:bom|bem|certo|otimo)|"
    r"perfeito|combinado|fechado|beleza|blz|show(?: de bola)?|otimo|excelente|legal|massa|bacana|maravilha|"
    r"maravilhoso|joia|top|"
    r"que (?:bom|legal|otimo|maravilha)|sem problemas?|tranquilo|de nada|imagina|disponha|por nada|parabens|"
    r"saquei|pode deixar|(?:ah )?faz sentido|deixa pra la|tudo bem",
)

COURTESIES = pieces(
    *(*GREETINGS, *FAREWELLS, *THANKS, *ACKNOWLEDGED), *(*SAUDACOES, *DESPEDIDAS, *AGRADECIMENTOS, *ENTENDIDO)
)
