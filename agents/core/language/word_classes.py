"""Closed word classes of the depth rules, Portuguese and English: folded, blanks between words."""

COURTESY = """
    oi ola opa bom boa dia tarde noite tudo bem certo joia como vai vao voce voces vc esta está
    estao obrigado obrigada obrigadao brigado brigada muito muitissimo mto agradeco agradecido
    agradecida grato grata gratidao ajudou valeu vlw ok okay okey claro perfeito perfeita otimo otima
    excelente maravilha maravilhoso beleza blz legal bacana show combinado fechado feito entendi
    entendido compreendi compreendido percebi percebido ciente anotado isso aham uhum sim ja ta
    tchau ate mais logo amanha breve adeus abraco abracos pela pelo pelas ajuda ajudar informacao
    informacoes atencao resposta retorno correcao esclarecimento por favor de nada disponha mesmo
    exato exatamente correto confirmo pode ser
    thanks thank thx ty cheers thankful grateful you so very much a lot many ok okay alright all
    right sure great good perfect excellent awesome nice cool wonderful fantastic lovely fine got
    it understood understand i we see noted makes sense sounds bye goodbye later ya yes yeah yep
    yup for your the help that is this appreciate welcome please how are do doing today correct
    exactly indeed have day night one information info answer works me
"""
# At least one of these makes a run of courtesy words a courtesy.
COURTESY_HEADS = """
    oi ola obrigado obrigada obrigadao brigado brigada agradeco agradecido agradecida grato grata
    gratidao valeu vlw ok okay okey perfeito perfeita otimo otima excelente maravilha beleza blz
    legal bacana show combinado fechado entendi entendido compreendi compreendido percebi ciente
    anotado aham uhum sim tchau adeus abraco abracos disponha claro certo exato exatamente correto
    confirmo tudo
    thanks thank thx ty cheers thankful grateful alright sure great perfect excellent awesome nice
    cool wonderful fantastic lovely fine understood noted bye goodbye yes yeah yep yup appreciate
    welcome sounds correct exactly indeed good see got ajudou helped
"""
GREETING_QUESTIONS = ("tudo bem", "tudo bom", "tudo certo", "como vai", "como voce", "how are")
YES = "sim claro pode yes yeah yep yup sure correto exato confirmo correct exactly ok"
NEGATIONS = "nao no nope nah"
# After an initial "no" these go on with English; before other words it may be Portuguese (in the).
AFTER_ENGLISH_NO = """
    it that the i you we they he she this these there make book actually not my its their
"""
# What follows "Não, ..." without contradicting anybody.
NO_CONTRADICTION = """
    entendi sei lembro precisa preciso obrigado obrigada quero tenho consigo vi recebi agora ainda
    hoje posso depois talvez nunca pode know not maybe later bye please let go do find show
    search give need thanks thank understand want yet sure have remember problem worries
"""
VOCATIVES = """
    pessoal gente galera time equipe todos colegas amigo amiga amigos there all everyone everybody
    team guys folks bot assistente assistant doutor doutora senhor senhora prezado prezada
"""

WH_WORDS = """
    qual quais quem quando onde quanto quanta quantos quantas como que
    what which who whom whose when where why how
"""
# Before the question word: in which, with whom, of what.
WH_PREFIX = "em de do da com para por a ao no na desde ate o e mas in at on for to of with from by"
# A question word in the middle: "signed in the palace of which town?".
LATE_WH = "what which who whom qual quais quem quanto quanta quantos quantas"
BEFORE_LATE_WH = """
    of in by to for from at on with than is was are were de do da em no na por para com é foi sao foram entre between
"""
SHORT_ANSWER = """
    quem quando onde quanto quanta quantos quantas who whom whose when where which
"""
HOW_MUCH = """
    many much long old far often tall big large high deep wide heavy fast late early soon
"""
STATUS_VERBS = """
    está esta estao vai vao anda andam fica ficam ficou ficaram foi foram era estava chama chamam
    chamo chamas
"""
SKIPPED_AFTER_COMO = "eu se a gente que é nos voce"
# After "como" these end like a verb of the first person and are none.
NO_FIRST_PERSON = """
    isso isto aquilo tudo todo mesmo outro certo quando sendo sobre acordo exemplo quanto tanto estamos somos
    vamos podemos devemos temos ultimo primeiro segundo marco junho julho governo grupo brasileiro
"""
WORKING = """
    work works function functions operate operates happen happens go done look calculated made
    funciona funcionam funcionaria faz faco fazer acontece ocorre opera é seria ficaria
"""

# What a short answer can give: the nouns of a look-up.
ATTRIBUTES = """
    email emails telefone telefones celular ramal contato numero numeros endereco enderecos cep cpf
    cnpj rg nif nome nomes sobrenome apelido cargo salario idade data datas dia dias hora horas
    horario horarios prazo prazos vencimento validade vigencia valor valores preco precos custo
    custos taxa aliquota percentual porcentagem total saldo orcamento quantidade tamanho peso altura
    distancia duracao versao status situacao link url site senha codigo protocolo placa conta
    agencia
    banco local cidade estado pais capital sede sala andar responsavel gerente diretor
    diretora chefe
    dono autor autora cliente fornecedor fabricante modelo marca cor lingua idioma moeda populacao
    area temperatura aniversario nota media meta limite desconto multa juros
    phone number numbers address addresses name names title salary age date dates day hour
    hours time
    schedule deadline deadlines value price prices cost costs rate percentage amount balance budget
    quantity size weight height length width distance duration version state link password code
    account location city country capital headquarters room floor owner manager director boss author
    client customer supplier model brand color colour language currency population temperature
    birthday score average limit discount nationality zip area year percent extension website url
    president ceo founder mayor speed depth
"""
# What belongs to something: said with an article and no owner, it continues the topic.
PARTS = """
    escopo equipe time fase fases etapa etapas entrega entregas entregavel cronograma contrato
    clausula clausulas anexo anexos parecer proposta reuniao ata pauta equipa objetivo objetivos
    risco riscos resultado resultados conclusao introducao resumo relatorio planilha tabela grafico
    documento texto versao rascunho multa garantia assinatura
    scope team phase phases stage stages delivery deliverable deliverables milestone milestones
    timeline contract clause clauses annex attachment proposal meeting minutes agenda goal goals
    risk risks result results conclusion report spreadsheet table chart document text draft penalty
    warranty signature plan
"""
# Nouns that ask for a rule or an idea rather than a fact, even in the singular.
CONCEPTS = """
    politica politicas regra regras norma normas regulamento estrategia plano visao missao filosofia
    abordagem metodologia processo processos situacao cenario contexto criterio criterios impacto
    policy policies rule rules regulation strategy plan approach methodology process situation
    scenario context criteria point problem issue story secret
"""
ASKING_VERBS = """
    passa passe diz diga informa informe manda mande da de preciso quero queria confirma confirme
    give tell send need want get
"""

# These point outside whatever stands before them.
DEICTIC = "isso isto disso nisso aquilo this"
PRONOUNS = """
    isso isto aquilo disso nisso disto nisto daquilo naquilo dele dela deles delas nele nela neles
    nelas ele ela eles elas ambos ambas
    it its ones they them their theirs he she him his her hers itself himself herself themselves
"""
DETERMINERS = """
    esse essa esses essas desse dessa desses dessas nesse nessa nesses nessas este deste neste desta
    nesta estes estas destes destas aquele aquela aqueles aquelas daquele daquela daqueles daquelas
    naquele naquela tal tais
    these those such
"""
# `that` and `this` refer when a verb or nothing follows; before other words they may join clauses.
AFTER_POINTING_THAT = """
    is was does did would will can could has had means mean happen happens happened work works
    sounds looks seems include includes included make makes apply applies cost costs take takes
    one point part case number project word for in to about with at on right enough too
"""
BEFORE_POINTING_THAT = """
    are has have had will would can could about of like do does did is was with for than on in by at
    after before
"""
PLACES = "la ali there"
EXPLETIVE = "is are was were isnt be"

REQUESTS = """
    preciso precisamos quero queremos queria gostaria desejo busco procuro necessito ajuda ajude
    pode poderia podes need want like looking help wish find search recommend book can could
    search show
"""
ARTICLES_PT = "o a os as do da dos das no na nos nas ao aos pelo pela"
ARTICLES_EN = "the"
OWNERSHIP = "de do da dos das of for para pra"
KINDS = """
    projeto project cliente client customer contrato contract processo process relatorio report
    empresa company produto product fornecedor supplier sistema system contato equipe team caso case
    lei law artigo article
"""
ANALYST_ROLES = """
    analyst analista auditor auditora auditoria researcher pesquisador pesquisadora investigador
    investigadora lawyer advogado advogada legal juridico compliance scientist cientista consultor
    consultora consultant reviewer revisor revisora controller perito perita
"""

# Words that accept what is put to confirmation.
AGREEMENT = """
    sim yes yeah yep yup yea sure ok okay certo correto correta exato perfeito perfeita confirmo
    confirmado confirmed confirm correct right good great fine perfect works work thanks thank
    obrigado obrigada isso alright sounds beleza combinado fechado
"""
# Orders at the head of a sentence, reports elsewhere.
ORDERS = "mostra indica fala passa conta avisa diz informa confirma show list mention quote confirm"
ASKING_OTHERWISE = "could would can pode poderia podes podia"
# After a pause and `not` these soften or put off; they replace nothing.
AFTER_VAGUE_NOT = """
    much too even so really at necessarily sure right now today yet exactly quite for until if only just mesmo
    necessariamente exatamente bem so apenas ainda agora hoje muito
"""

# Between these a pronoun may have its antecedent inside the message.
CLAUSE_JOINTS = "e and but mas if se when quando because porque then while enquanto which or ou"

# After "what is" these do not name what is to be defined.
NO_SUBJECT = """
    that this wrong going happening for in on at with up new next left not so there here about
"""

# Past forms that the regular endings do not show, or show less surely. Left out are those that
# are also something else when folded: "pode", "pos", "sai", "ia", and the polite "queria".
PRETERITES_PT = """
    fui foi fomos foram era eram eramos fiz fez fizemos fizeram disse dissemos disseram tive teve
    tivemos tiveram dei deu demos deram vim veio viemos vieram vi viu vimos quis quiseram soube
    souberam pude pudemos puderam trouxe trouxemos trouxeram houve houveram estive esteve estiveram
    estava estavam tinha tinham havia haviam fazia faziam dizia diziam
    saiu sairam caiu cairam leu leram puseram propos propuseram manteve obteve obtiveram
    recebi vendi pedi escrevi decidi assisti conheci perdi vivi comi bebi aprendi esqueci resolvi
    defini prometi respondi ouvi dormi abri li corri cresci nasci escolhi consegui
    escreveram venderam receberam decidiram definiram pediram abriram cobriram assistiram
    discutiram resolveram responderam prometeram escolheram conseguiram perderam viveram nasceram
    morreram correram pediste fizeste disseste foste viste tiveste combinamos decidimos acordamos
    falamos conversamos definimos discutimos resolvemos acertamos aprovamos assinamos marcamos
    encontramos conhecemos compramos vendemos recebemos enviamos mandamos paramos comecamos
    terminamos contratamos visitamos viajamos fechamos escolhemos mudamos
"""
NO_PRETERITES_PT = """
    estou europeu museu judeu trofeu chapeu pneu ateu hebreu liceu apogeu plebeu param preparam comparam
    declaram separam reparam disparam encaram amparam mascaram varam lava trava crava grava clava oitava
    escrava brava cava escava desbrava destrava agrava lavam travam gravam cravam escavam agravam
"""
# "que" after these asks or stresses ("o que", "por que", "foi que"); after others it opens a relative clause.
BEFORE_ASKING_QUE = "o a por em de do da com para foi é e era desde ate quando onde quem como sera"

RELATIVES_EN = "who that which whom if whether because when where what how why"
AUXILIARIES_EN = """
    is are am do does can could will would should may might must shall has have be been being
"""
PRETERITES_EN = """
    was were had went got made said told took came saw knew gave found thought left felt brought
    began kept held wrote stood heard meant met ran paid sat spoke lay led grew lost fell sent built
    understood drew broke spent rose drove bought wore chose ate caught taught sold sang swam flew
    forgot hid rode rang shook shot slept stole struck threw woke won drank fought became dealt
    blew bent bound bred dug fed fled froze hung knelt laid lent lit rang sank shrank slid sought
    spun sprang stuck stung swept swore swung tore wept withdrew wound happened
"""
PARTICIPLES_EN = """
    been gone done seen said told taken come known given found thought left felt brought begun kept
    held written stood heard meant met run paid sat spoken led grown lost fallen sent built
    understood drawn broken spent risen driven bought worn chosen eaten caught taught sold sung swum
    flown forgotten hidden ridden shaken shot slept stolen struck thrown won drunk fought become
    made had got gotten read put cut set hit hurt let quit shut
"""
NO_PAST_EN = """
    hundred sacred naked wicked united limited unlimited embed biped moped kindred hatred beloved
    rugged ragged crooked aged wretched alleged
"""
SUBJECT_WH_EN = "who what which whose how"
WH_WORDS_PT = "qual quais quem quando onde quanto quanta quantos quantas como que"
KNOWN_EN = """
    i we you he she they those my our your his her their everyone everybody
    someone somebody anyone anybody me us him them
"""
BEFORE_PLACES_EN = "the in of at from on to by for"
EXPLAINING_EN = "of in that who which first most largest world"

# Somebody able or allowed to do something: asks for no service.
ABILITY = "pode poderia podes posso"
NEEDS = "preciso precisamos quero queremos queria need want"
# Of what, or of which, is said behind these or known from before.
RELATIONAL = """
    risco riscos excecao excecoes alternativa alternativas vantagem vantagens desvantagem desvantagens
    beneficio beneficios efeito efeitos causa causas sintoma sintomas consequencia consequencias impacto
    impactos implicacao implicacoes tipo tipos papel importancia finalidade limitacao limitacoes requisito
    requisitos principal principais melhor melhores pior piores maior menor resultado resultados etapa etapas
    caracteristica caracteristicas funcao origem motivo motivos custo custos proximo proximos proxima proximas
    risks risk exception exceptions alternative alternatives advantage advantages disadvantage disadvantages
    drawback drawbacks benefit benefits effect effects cause causes symptom symptoms consequence consequences
    impact impacts implication implications type types kind kinds role importance purpose limitation
    limitations requirement requirements best worst main key most largest biggest smallest longest shortest
    cheapest oldest newest fastest highest lowest result results step steps feature features function origin
    reason reasons cost costs response themes findings uses models treatment treatments relationship cheaper
    better worse bigger smaller faster nearby famous popular typical common important other others possible
    available
"""
WHOLE_FOLLOWS = "de do da dos das deste desta desse dessa of"

# Who speaks of these remembers them.
SPEAKERS = """
    i we you my our your me eu nos gente voce voces meu minha meus minhas nosso nossa nossos nossas combinamos
    decidimos acordamos falamos conversamos definimos discutimos resolvemos fizemos assinamos disse
    disseram falou decidiu
    prometeu pediu sugeriu say said decide decided agree agreed promise promised
"""
DATING = """
    year century decade average season first anyone anybody ano seculo decada media
    invented discovered founded composed painted conquered colonized proclaimed built
    inventou descobriu fundou compos pintou esculpiu conquistou colonizou proclamou construiu
"""
SUPERLATIVES = "mais maior menor melhor pior primeiro primeira ultimo ultima first last best worst"
OBLIGING = "may must should have need allowed required supposed entitled devo preciso posso obrigado obrigada"
# What somebody is allowed, obliged or entitled to.
RULES = """
    allowed permitted required mandatory obliged entitled eligible compulsory forbidden supposed refundable
    pode podem deve devem precisa precisam obrigatorio obrigatoria permitido permitida proibido proibida direito
    necessario necessaria autorizado autorizada
"""
FIRST_PERSON = (
    "i we my our eu meu minha meus minhas posso devo preciso podemos devemos precisamos tenho temos nosso nossa"
)

BEFORE_FIGURES = "r us dia de as about around cerca on at the"
# What stands around a value and names nothing itself.
AROUND_VALUES = """
    pretty sure certeza acho creio penso acredito suponho guess believe reckon suppose mil milhao
    milhoes reais real dolares dolar euros por cento percentual dias meses anos semanas horas dia mes
    ano certo correto seria jan fev mar abr mai jun jul ago set out nov dez janeiro fevereiro marco
    março abril maio junho julho agosto setembro outubro novembro dezembro segunda terca terça quarta
    quinta sexta sabado sábado domingo feira tinha dito melhor h hs thousand million billion percent
    dollars days months years weeks hours day month year week hour am pm noon monday tuesday wednesday
    thursday friday saturday sunday january february march april may june july august september october
    november december thought right correct k m yesterday today
"""
# What is added to something, and what a question may end in when its object was named before.
ALSO = "also too else other others another more instead either still então entao tambem outro outra outros mais ainda"
FINAL = "for of in on at with about from to by like after before por para com"
# How a turn may open that goes on, or that begins something.
OPENERS = """
    and but so what how is are do does can could would will i it that this you we they he she my the a no yes if when
    where who why which also now next another then well let tell there because
    e mas entao o que como qual quais quem quando onde quanto por eu isso esse essa ele ela voce a os as um uma nao
    sim se pode posso preciso quero agora outra outro tambem ja ainda
"""
