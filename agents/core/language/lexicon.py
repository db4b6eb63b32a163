"""The words the depth rules know, Portuguese and English. Words only: no code, no patterns.

Everything is folded: lower case, no accents. Blanks separate the words of a list.
"""

STOPWORDS = (
    # Portuguese: articles, prepositions, contractions
    """
    a o as os um uma uns umas de do da dos das em no na nos nas num numa nuns numas por pelo
    pela pelos pelas para pra pro pras pros ao aos com sem sob sobre entre ate desde contra
    apos ante perante durante conforme segundo dum duma
    """
    # conjunctions and connectives
    """
    e ou mas nem que se porque pois porem contudo todavia entretanto enquanto quando embora
    caso logo portanto entao assim como onde quanto quantos quanta quantas qual quais quem
    cujo cuja cujos cujas afinal alias apesar
    """
    # pronouns and demonstratives
    """
    eu tu ele ela nos vos eles elas voce voces vc vcs me te se lhe lhes mim ti si comigo
    contigo consigo conosco gente meu minha meus minhas teu tua teus tuas seu sua seus suas
    nosso nossa nossos nossas dele dela deles delas este esta estes estas esse essa esses
    essas aquele aquela aqueles aquelas isto isso aquilo neste nesta nesse nessa naquele
    naquela deste desta desse dessa daquele daquela disto disso daquilo nisto nisso naquilo
    nele nela neles nelas outro outra outros outras mesmo mesma mesmos mesmas algum alguma
    alguns algumas nenhum nenhuma algo alguem ninguem nada tudo todo toda todos todas cada
    qualquer quaisquer varios varias muito muita muitos muitas pouco pouca poucos poucas
    tanto tanta tantos tantas tal tais proprio propria
    """
    # adverbs and fillers
    """
    nao sim ja ainda sempre nunca tambem tb so apenas mais menos bem mal la ali aqui ai ca
    agora hoje ontem amanha depois antes talvez quase tao bastante ora pq q ne ok ta
    """
    # auxiliary and very common verbs
    """
    ser sou es e somos sao era eram foi foram fui sera serao seria seriam seja sejam sendo
    sido estar estou esta estamos estao estava estavam esteve estiver ter tenho tem temos
    tinha tinham teve tiveram tera teria tenha ha havia houve haver ir vou vai vamos vao ia
    foram poder posso pode podem podemos podia poderia poderiam puder dever deve devem devia
    deveria deveriam fazer faco faz fazem fez feito querer quero quer querem queria gostaria
    precisar preciso precisa precisamos saber sei sabe sabem ficar fica ficam ficou dar da
    dao deu dizer diz existe existem haja
    """
    # greetings and courtesy
    """
    ola oi bom boa dia tarde noite obrigado obrigada valeu favor gentileza please thanks
    thank hello hi hey
    """
    # English
    """
    a an the this that these those and or but nor so yet if then than as at by for from in
    into of off on onto out over to up down upon with without within about above after again
    against all almost already also although always am any anyone anything are around be
    became because been before being below between both can cannot could did do does doing
    done during each either else enough even ever every everyone everything few get gets
    getting got had has have having he her here hers herself him himself his how however i
    is it its itself just let like lot made make makes many may maybe me might mine more
    most much must my myself need needs neither never no none not nothing now often once one
    ones only other others our ours ourselves own perhaps quite rather really same shall she
    should since some somebody someone something still such sure take than that their theirs
    them themselves there they thing things think though through thus too under until us use
    very via want wants was we well were what whatever when where whether which while who
    whom whose why will would yes you your yours yourself im ive id ill dont doesnt didnt
    isnt arent wasnt cant couldnt wont wouldnt shouldnt don't doesn't didn't isn't aren't
    wasn't weren't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't i'm i've
    i'd i'll you're you've you'd you'll we're we've we'd we'll they're they've they'd
    they'll it's that's there's here's what's who's where's how's let's okay oh ah hmm um uh
    """
)

OPERATOR_WORDS = (
    # Portuguese: verbs and nouns that say what to do with a topic, not which topic
    """
    explica explique explicar explicas expliques explicacao explicacoes explicame esclareca
    esclarece esclarecer esclareces esclarecimento detalha detalhe detalhar detalhes
    detalhado detalhada detalhadamente aprofunda aprofunde aprofundar elabora elabore
    elaborar desenvolve desenvolva desenvolver melhor resuma resume resumir resumo resumos
    resumidamente sintetize sintetiza sintese lista liste listar listagem enumere enumera
    enumerar cite cita citar mostre mostra mostrar mostres compare compara comparar
    comparacao comparativo diferenca diferencas diferente diferentes distincao versus vs
    diga digas dize fala fale falar fales falando conta conte contar conta-me descreve
    descreva descrever informe informa informar indica indique indicar ajuda ajude ajudar
    significa significar quis entender entendi entende entendo perceber percebi percebo
    exemplo exemplos exemplifique contexto contextualize passo passos funciona funcionam
    funcionar funcionamento continua continue continuar prossiga prossegue repete repita
    repetir pergunta perguntas duvida duvidas questao assunto tema topico motivo motivos
    razao razoes relacao respeito maneira forma modo tipo tipos coisa coisas parte ponto
    """
    # English
    """
    find finds found search searching look looking check see seems go going come ask asks good
    great nice cool fine awesome perfect interesting explain explains explained explaining
    explanation elaborate clarify clarification detail
    details detailed expand summarize summarise summary summaries recap list lists enumerate
    show give tell say said talk talking describe describes description compare compares
    compared comparing comparison comparisons difference differences different differ
    differs distinguish contrast mean means meaning meant understand example examples
    context help step steps work works working continue repeat question questions topic
    subject reason reasons kind kinds sort type types way ways better know please
    """
)

# Function words of the one language that carry meaning in the other.
FALSE_FRIENDS = {
    "en": "era ate dos mal ora caso logo tanto fala fez sera seria cite parte modo",
    "pt": "via show made too come one",
}

# Pronouns written after a verb with a hyphen: explique-me, envia-lhe, compara-os.
CLITICS = "me te se lhe lhes nos vos o a os as lo la los las no na mo ma"

# Function words of one language that are no word of the other.
LANGUAGE_VOTES = {
    "pt": """
        o os um uma de da dos das em na nos nas num numa por pelo pela pelos pelas para pra
        ao aos com sem sobre e ou mas nem que se porque quando como onde quanto quantos
        quantas qual quais quem eu ele ela eles elas voce voces vc meu minha meus minhas seu
        sua seus suas nosso nossa este esta estes estas esse essa esses essas isto isso
        aquilo aquele aquela neste nesta nesse nessa disso nisso nao sim ja ainda sempre
        tambem mais menos muito muita la aqui agora hoje ontem amanha sao foi foram era sera
        ser estar estou estao tem temos tinha teve ha pode podem posso quero queria preciso
        fazer faz fica vai vamos obrigado obrigada ola oi bom boa dia tarde noite liste
        resuma explica explique entendi concordo errado verdade entre diferenca depois antes
        todos todas tudo qualquer
        """,
    "en": """
        the an this that these those and or but if then than at by for from in into of on to
        up with without about after all also am any are be because been before being between
        both can could did does done each had has have he her here him his how i is it its
        just many may my need not now only other our she should since some still such their
        them there they too under until us was we were what when where which while who whose
        why will would yes you your don't doesn't didn't isn't aren't wasn't can't won't i'm
        i've i'd i'll you're we're they're it's that's there's what's let's please thanks
        thank hello explain list show summarize compare difference actually wrong agree
        disagree tell give
        """,
}

# Said before the message proper and without weight of their own.
FILLERS = """
    ah oh eh hm hmm hum uh um er olha olhe veja well please entao so then mas but
    pois ora nossa puxa wow hey listen look anyway enfim tipo
"""

# What short and spoken forms stand for. A leading quote is an ending.
CONTRACTIONS = """
    can't = can not
    won't = will not
    shan't = shall not
    cannot = can not
    cant = can not
    wont = will not
    dont = do not
    doesnt = does not
    didnt = did not
    isnt = is not
    arent = are not
    wasnt = was not
    werent = were not
    thats = that is
    whats = what is
    whos = who is
    hows = how is
    wheres = where is
    im = i am
    ive = i have
    youre = you are
    theyre = they are
    it's = it is
    that's = that is
    this's = this is
    what's = what is
    who's = who is
    how's = how is
    where's = where is
    when's = when is
    why's = why is
    there's = there is
    here's = here is
    he's = he is
    she's = she is
    let's = let us
    y'all = you all
    're = are
    'm = am
    'll = will
    've = have
    'd = would
    tell u = tell you
    pq = por que
    vc = voce
    vcs = voces
    ce = voce
    tb = tambem
    tbm = tambem
    eh = é
    ta = está
    tava = estava
    tao = tao
    pra = para
    pro = para o
    e-mail = email
    oq = o que
    qnd = quando
    qdo = quando
    qto = quanto
    qual'e = qual é
    d'agua = de agua
"""
