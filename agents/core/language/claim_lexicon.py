"""The words claims are recognised by, Portuguese and English: heads, verbs, states, places, markers. Nearly no code.

Heads, states and places are flat (lower case, no accents); verbs are lower case *with* accents, because `e` is no `é`
and `esta` no `está`.
"""

import re

from agents.core.language.sentences import word_set

# --- states that exclude each other: one state per scale at a time ---
_SCALES = {
    "approval": "aprovado reprovado rejeitado / approved rejected",
    "opening": "aberto fechado encerrado / open closed",
    "activity": "ativo inativo desativado ativado ligado desligado / active inactive enabled disabled",
    "meeting": "confirmado cancelado / confirmed cancelled canceled",
    "availability": "disponivel indisponivel esgotado / available unavailable",
    "completion": "concluido finalizado / finished completed",
}
_SAME_STATE = {
    "rejected": "reprovado", "rejeitado": "reprovado", "approved": "aprovado", "open": "aberto", "closed": "fechado",
    "encerrado": "fechado", "active": "ativo", "enabled": "ativo", "ativado": "ativo", "ligado": "ativo",
    "inactive": "inativo", "disabled": "inativo", "desativado": "inativo", "desligado": "inativo",
    "confirmed": "confirmado", "cancelled": "cancelado", "canceled": "cancelado", "available": "disponivel",
    "unavailable": "indisponivel", "esgotado": "indisponivel", "finished": "concluido", "completed": "concluido",
    "finalizado": "concluido",
}  # fmt: skip
SCALE_OF: dict[str, tuple[str, str]] = {
    word: (scale, _SAME_STATE.get(word, word))
    for scale, words in _SCALES.items()
    for word in words.replace("/", " ").split()
}

# --- places: only those of one level exclude each other (Porto is in Portugal) ---
_CITIES = """
lisboa porto coimbra aveiro evora setubal funchal guimaraes viseu cascais sintra sao_paulo rio_de_janeiro rio
belo_horizonte brasilia curitiba recife belem manaus goiania campinas florianopolis maceio joinville niteroi
ribeirao_preto porto_alegre sao_luis joao_pessoa campo_grande cuiaba aracaju teresina londrina uberlandia sorocaba
blumenau maringa luanda maputo lisbon london londres paris madrid barcelona berlin berlim munich munique hamburg rome
roma milan milao amsterdam brussels bruxelas dublin zurich zurique vienna viena prague praga warsaw budapest athens
atenas stockholm oslo copenhagen helsinki moscow tokyo toquio beijing shanghai singapore sydney melbourne toronto
montreal vancouver ottawa boston chicago seattle miami philadelphia dallas atlanta detroit new_york nova_york
nova_iorque los_angeles san_francisco san_diego las_vegas buenos_aires montevideo montevideu bogota quito caracas
mexico_city cidade_do_mexico manchester edinburgh glasgow liverpool
"""
_COUNTRIES = """
portugal brasil brazil espanha spain franca france alemanha germany italia italy inglaterra england irlanda ireland
holanda netherlands belgica belgium suica switzerland austria suecia sweden noruega norway dinamarca denmark finlandia
finland polonia poland grecia greece angola mocambique mozambique canada mexico argentina chile uruguai uruguay
paraguai paraguay colombia peru japao japan china india australia estados_unidos united_states reino_unido
united_kingdom cabo_verde
"""
PLACES: dict[str, str] = {
    name.replace("_", " "): level
    for level, names in (("city", _CITIES), ("country", _COUNTRIES))
    for name in names.split()
}
NAME_JOINTS = re.compile(r"\s(?:d[aeo]s?\s|von\s|van\s|of\s(?:the\s)?|and\sCo\b)?|-", re.IGNORECASE)

# --- heads: what a subject is about; the same concept in both languages compares equal ---
CONCEPTS = {
    "prazo": "deadline", "deadline": "deadline", "orcamento": "budget", "budget": "budget", "preco": "price",
    "price": "price", "custo": "cost", "cost": "cost", "reuniao": "meeting", "meeting": "meeting", "versao": "version",
    "version": "version", "responsavel": "owner", "owner": "owner", "endereco": "address", "address": "address",
    "telefone": "phone", "phone": "phone", "email": "email", "e-mail": "email", "nome": "name", "name": "name",
    "salario": "salary", "salary": "salary", "aniversario": "birthday", "birthday": "birthday", "idade": "age",
    "age": "age", "entrega": "delivery", "delivery": "delivery", "gerente": "manager", "manager": "manager",
    "capital": "capital", "projeto": "project", "project": "project", "contrato": "contract", "contract": "contract",
    "cliente": "client", "client": "client", "irma": "sister", "sister": "sister", "irmao": "brother",
    "brother": "brother", "equipe": "team", "equipa": "team", "time": "team", "team": "team",
    "fatura": "invoice", "invoice": "invoice", "pedido": "order", "order": "order", "multa": "fine", "meta": "target",
    "target": "target", "data": "date", "date": "date", "inicio": "start", "start": "start", "fim": "end", "end": "end",
    "lancamento": "launch", "launch": "launch", "chefe": "boss", "boss": "boss", "esposa": "wife", "wife": "wife",
    "marido": "husband", "husband": "husband", "filha": "daughter", "daughter": "daughter", "filho": "son", "son":
    "son",
    "nos": "we", "we": "we", "lider": "leader", "leader": "leader", "amigo": "friend", "amiga": "friend",
    "friend": "friend", "kid": "child", "crianca": "child",
    "gato": "cat", "gata": "cat", "cat": "cat", "cachorro": "dog", "dog": "dog",
}  # fmt: skip
# Heads whose value is a person or a name: one at a time.
PERSON_HEADS = word_set("""responsavel gerente chefe coordenador coordenadora diretor diretora lider autor autora
dono dona proprietario
proprietaria presidente prefeito prefeita contato cliente fornecedor relator relatora advogado advogada orientador
orientadora owner manager boss lead leader director author president ceo cto cfo contact supplier coordinator mayor
lawyer pm head nome name esposa marido wife husband irma irmao sister brother pai mae father mother filha filho
daughter son apelido sobrenome nickname surname supervisor supervisora""")
PLACE_HEADS = word_set("""capital sede local lugar endereco cidade pais escritorio location venue place address city
country headquarters
office hometown destino destination""")
# Relatives, friends and animals: there may be several, so one's name never excludes another's.
SEVERAL_HEADS = word_set("""filho filha irmao irma tio tia primo prima sobrinho sobrinha neto neta avo amigo amiga
colega vizinho vizinha cunhado cunhada gato gata cachorro cachorra cao son daughter brother sister uncle aunt cousin
nephew niece grandson granddaughter grandfather grandmother friend colleague coworker neighbor neighbour cat dog pet
child kid hobby medo alergia remedio""")
NAME_HEADS = word_set("nome name apelido sobrenome nickname surname titulo title codinome")
FAVOURITE = word_set("favorito favorita preferido preferida favorite favourite preferred")
# Two of these in one conversation are rarely the same one, so their values never exclude each other by themselves.
VAGUE_HEADS = word_set("""resposta questao pergunta problema exemplo resultado coisa ponto motivo razao objetivo
ideia opcao passo soma total
dia hora vez parte caso tipo forma maneira verdade diferenca dica sugestao alternativa solucao item linha numero nota
answer question problem example result thing point reason goal idea option step sum day hour time part case type way
truth difference tip suggestion alternative solution issue line number note rest resto fato fact trick next proximo
primeiro primeira segundo segunda terceiro first second third last ultimo ultima outro outra other another one
arquivo file foto photo texto text frase sentence artigo article livro book filme movie mensagem message""")
# Things people say they have a number of, that stay the same for a while.
COUNTABLE = word_set("""fase etapa modulo membro pessoa funcionario andar pagina capitulo quarto licenca vaga filho
filha servidor ambiente
phase stage module member people person employee floor page chapter bedroom license seat child children kid server
environment sprint""")

# --- words that begin no definite subject ---
PRONOUNS = word_set("""eu tu ele ela eles elas nos voces voce isso isto aquilo este esta esse essa aquele aquela quem
que qual tudo nada
algo ninguem alguem i you he she it we they this that these those who what which there here everything nothing
something someone nobody everyone one ai la aqui ali hoje amanha ontem agora depois antes today tomorrow yesterday now
then onde quando como where when how why tambem also ainda so apenas let let's vamos""")
INDEFINITE = word_set("""um uma uns umas cada todo toda todos todas qualquer algum alguma alguns algumas nenhum
nenhuma outro outra outros
outras muitos muitas varios varias a_ an some any every each all another no many several most few other others both
ambos ambas mais menos poucos certos certas""")
NEWER = word_set(
    "novo nova atual new current updated latest atualizado atualizada revised correto correta certo "
    "certa right correct real aprovado aprovada approved vigente acordado acordada agreed oficial official"
)
# What is not said of the present: an old deadline is no deadline.
PAST_WORDS = word_set("antigo antiga anterior velho velha old previous former original originalmente originally")

# --- markers ---
# Sure by themselves.
CONTESTS = (
    r"corrigindo|corre[çc][ãa]o:|(?:est[áa]|t[áa]|[ée]|ficou|muito|tudo|você|isso) (?:errad[oa]|incorret[oa]|"
    r"equivocad[oa])|errado[,.!:]|"
    r"me (?:enganei|confundi|equivoquei)|(?:se|te) engan(?:ou|aste)|enganou-se|enganaste-te|"
    r"discordo|n[ãa]o concordo|n[ãa]o procede|"
    r"n[ãa]o [ée] (?:isso|verdade|bem assim)|"
    r"n[ãa]o foi isso|o (?:cert[oa]|corret[oa]) [ée]|quis dizer|melhor dizendo|retifico|retificando|"
    r"n[ãa]o est[áa] (?:certo|correto)|(?:h[áa]|tem) um (?:erro|engano)|"
    r"correction:|(?:is|are|was|that's|it's|you're|you are|you got|totally|completely) (?:wrong|incorrect|mistaken|"
    r"inaccurate)|"
    r"my mistake|i (?:strongly |completely |totally )?disagree|i do(?:n't| not) agree|(?:not|isn't|aren't|"
    r"wasn't) (?:true|right|correct|accurate)\b|"
    r"i was wrong|i got (?:it|that) wrong|i (?:mixed|messed) (?:it|that|them) up|i misremembered|"
    r"i meant|scratch that|not what i said|i misspoke|i stand corrected|let me correct|to correct"
)
# Sure only beside something asserted: `na verdade, queria saber…` contests nothing.
CORRECTS = (
    r"na verdade|na realidade|ali[áa]s|quer dizer|(?:em vez|ao inv[ée]s) d[eoa]|e n[ãa]o (?=\w)|pelo contr[áa]rio|"
    r"negativo|"
    r"errado|errei|engano|actually|in fact|i mean|instead of|rather than|on the contrary|should be|should have been|"
    r"wrong|rather,"
)
CHANGE_ADVERBS = r"agora|j[áa]|a partir de|now|from now on|as of"
POLITE_NO = (
    r"(?:n[ãa]o|no|nope)[,.!]?\s+(?:muito\s+)?(?:obrigad[oa]|precisa|tem problema|se preocupe|thanks|thank you|problem|"
    r"worries|need|that'?s all|it'?s ok|idea|sei\b|entendi|sabia|consigo|quero|preciso|gostaria|posso|vou|d[áa]\b|"
    r"doubt|"
    r"seja|fui eu|h[áa] de qu[êe]|one\b|way\b)|(?:n[ãa]o|no|not) (?:s[óo]|apenas|only|just)\b"
)
# A whole sentence with one of these claims nothing: hypothetical, asked for, reported, unknown.
NOT_WRONG = (
    r"(?:went|go|goes|going|gone|what's|what is|anything|nothing|something|don't get me|deu|dar|d[áa]|algo|nada|"
    r"fiz) (?:de )?(?:wrong|errado)"
)
UNCLAIMED = (
    r"\bse\b(?! chama| aplica)|\bcaso\b|\btalvez\b|\bserá que\b|\bquem sabe\b|\bsuponha\w*|\bsupondo\b|"
    r"\bimagin\w+\b|\bdigamos\b|"
    r"\bpor exemplo\b|\bex\.:|\bposs[íi]ve[li]\w*|\bprovavelmente\b|\bpode ser\b|\bpoderia\w*\b|\bdeveria\w*\b|"
    r"\bdeve ser\b|\bseria(?:m|mos)?\b|"
    r"\bgostaria\w*\b|\bqueria\w*\b|\bfosse\w*\b|\bseja\w*\b|\bquando\b|\benquanto\b|\bsempre que\b|\bgaranta\b|"
    r"\bcertifique\b|\bdisse(?:ram)?\b|\bdiz(?:em)?\b|\bfal(?:ou|aram)\b|\bafirm(?:a|ou|am)\b|\bsegundo (?!turno|"
    r"semestre)|"
    r"\bde acordo com\b|\bconforme (?!combinad|acordad)|\bnão sei\b|\bnao sei\b|\bduvido\b|\bnão acho\b|\bdepende\b|"
    r"\bgeralmente\b|"
    r"\bnormalmente\b|\bàs vezes\b|\bcostuma\w*\b|\bouvi\b|\bli que\b|\bparece que\b|\btomara\b|\bespero que\b|"
    r"\bquero que\b|"
    r"\bif\b|\bwhether\b|\bunless\b|\bmaybe\b|\bperhaps\b|\bpossibl[ey]\b|\bprobably\b|\bsuppos(?:e|ing)\b|\bimagine\b|"
    r"\bassum(?:e|ing)\b|\blet'?s say\b|\bfor example\b|\be\.g\.|\bwould\b|\bcould\b|\bmight\b|\bmay be\b|\bwish\b|"
    r"\bhope\b|"
    r"\bwhen(?:ever)?\b|\bwhile\b|\buntil we\b|\bmake sure\b|\bensure\b|\bsaid\b|\bsays\b|\btold\b|\bclaim(?:s|ed)\b|"
    r"\baccording to\b|\bi don'?t know\b|\bi doubt\b|\bdon'?t think\b|\bdepends\b|\busually\b|\bnormally\b|"
    r"\bsometimes\b|"
    r"\bi heard\b|\bi read\b|\bwant(?:s|ed)? (?:the|it|my|our)\b|\bonce the\b|\bconsider(?:e|ing|ando)?\b|"
    r"\balgu[ée]m\b|\bsomeone\b|\btod[oa]s?\b|\bevery\b|\beach\b|\bcada\b"
)
HEDGES = (
    r"\bacho\b(?: que)?|\bacredito\b(?: que)?|\bcreio\b(?: que)?|\bme parece\b(?: que)?|\bse não me engano\b|"
    r"\bse nao me engano\b|"
    r"\bsalvo engano\b|\bpelo que (?:sei|lembro)\b|\bi think\b(?: that)?|\bi believe\b(?: that)?|\bi guess\b(?: that)?|"
    r"\bif i(?:'m| am) not mistaken\b|\bif i remember (?:correctly|right)\b|\bas far as i know\b|\bi suppose\b"
)
QUESTION_STARTS = (
    r"(?:e\s|mas\s|and\s|but\s)?(?:qual|quais|quem|quando|onde|como|quanto|quantos|quantas|por que|porque que|o que|"
    r"cad[êe]|"
    r"what|who|whose|when|where|which|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|have you)\b"
)
# Openers that restrict nothing; whatever else stands before a subject restricts it (`No Brasil, o preço é …`).
OPENERS = (
    r"(?:n[ãa]o(?=\s*(?:[,.!:;]|$))|sim|ok|okay|certo|bom|bem|olha|olhe|ent[ãa]o|entao|ah|oh|ei|hey|oi|ol[áa]|mas|"
    r"por[ée]m|na verdade|na realidade|de fato|ali[áa]s|"
    r"ou seja|desculpe?|perd[ãa]o|errado|corre[çc][ãa]o|corrigindo|negativo|infelizmente|felizmente|obrigad[oa]|claro|"
    r"lembrando|lembr\w+(?:-se)?|anot[ae]|sabe|veja|bom dia|boa tarde|quer dizer|me enganei|discordo|isso|enfim|"
    r"(?:eu )?me (?:enganei|confundi|equivoquei)|i was wrong|i (?:mixed|messed) (?:it|that|them) up|i misremembered|"
    r"(?:já )?(?:ficou|foi) (?:definido|decidido|combinado|acertado) que|it was (?:decided|agreed) that|"
    r"resumindo|prontinho|pronto|perfeito|entendi|entendido|atualiza[çc][ãa]o|novidade|aten[çc][ãa]o|aviso|tamb[ée]m|"
    r"al[ée]m disso|"
    r"obrigad[oa] pela corre[çc][ãa]o|você tem raz[ãa]o|tem raz[ãa]o|pensando bem|agora|e|que|"
    r"no(?=\s*(?:[,.!:;]|$)|\s+(?:the|it|my|our)\b)|nope|yes|yeah|well|so|actually|wait|sorry|hey|hi|hello|but|"
    r"however|and|right|sure|correction|wrong|"
    r"thanks?|thank you|thanks for the correction|you(?:'re| are) right|i disagree|unfortunately|great|note|remember|"
    r"fyi|"
    r"update|in fact|in reality|also|besides|now|please note|just so you know|for the record|my mistake|i mean|oops|"
    r"hmm+|look|listen|got it|"
    r"as you know|that(?:'s| is) (?:wrong|not right|not true|incorrect)|you(?:'re| are) (?:wrong|mistaken)|that|"
    r"(?:isso )?(?:est[áa]|t[áa]) (?:errado|incorreto)|n[ãa]o [ée] (?:isso|verdade)|voc[êe] (?:se )?enganou)"
)
# After a value: what leaves it whole. Anything else makes the claim a restricted one.
HARMLESS_TAIL = (
    r"(?:agora|mesmo|viu|n[ée]|t[áa]|ok|ent[ãa]o|obrigad[oa]|por favor|certo|tamb[ée]m|apenas|s[óo]|hoje em dia|"
    r"atualmente|"
    r"no total|ao todo|de idade|confirmad[oa]|anota a[íi]|agora em diante|sem falta|j[áa]|"
    r"after all|"
    r"now|then|old|thanks|thank you|please|too|only|right|okay|currently|in total|already|confirmed|instead|though|"
    r"actually|"
    r"i (?:just )?checked|as of today|at the moment)"
)
REASON_TAIL = (
    r"(?:porque|pois|j[áa] que|por causa d|because|since\s+we|due to|as agreed|como combinad|conforme combinad)"
)
