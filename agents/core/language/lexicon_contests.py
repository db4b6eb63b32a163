"""The markers of what contests without saying so, in both languages: reports, changes, repairs. Phrases only: no code.

Written as in `depth_lexicon_pt` and `depth_lexicon_en`.
"""

MARKERS = {
    # Somebody, or something written, says so: it contests where it says something else than was said.
    "report": """
        (segundo|conforme|consoante) (o|a|os|as|meu|minha|nosso|nossa)
        (de acordo com|pelo que|pelos|pelas|pelo|pela)
        (disse|disseram|diz|dizem|falou|falaram|fala|passou|passaram|informou|informaram|contou|contaram|garantiu|\
            garantiram|confirmou|confirmaram|avisou|avisaram|cobrou|cobraram|prometeu|prometeram|tinha dito|\
            havia dito|mandou|mandaram|indicou|apontou|fechou em|acertou|acertamos|combinamos)
        (consta|constava|constam|aparece|apareceu|aparecia|está escrito|estava escrito|lia se|mostra|mostrava|indica)
        (ficou|ficaram|foi|foram) (definido|definida|decidido|decidida|combinado|combinada|acertado|acordado|fixado|\
            marcado|marcada|aprovado|aprovada)
        (pensei|achei|achava|pensava|lembro|lembrava|imaginei|entendi|vi|li|ouvi) (que|no|na|em)
        (no|na|nos|nas) (meu|minha|nosso|nossa) * (é|sao|esta|está|vem|tem|diz)
        (in|on|by) (my|our) * (it is|it says|is|says|shows)
        (told|informed|quoted|charged|promised|assured) (me|us)
        (says|said|states|stated|shows|showed|lists|listed|mentions|quoted|confirmed|reads)
        according to
        (i|we) (thought|read|heard|saw|was told|were told|remember|remembered|figured|understood|recall)
        (we|they) (agreed|settled|decided) on
    """,
    # What somebody took for true: where something was just said, it was something else.
    "believed": """
        (achei|achava|pensei|pensava|jurava|imaginava|imaginei|acreditava) que (nao|ja|so|ainda|o *|a *|ele|ela|) \
            (fosse|fossem|era|eram|tinha|tinham|seria|seriam|ia|iam|estava|estavam|dava|vinha|ficava|precisava|podia)
        jurava que
        (estava|tava|fiquei|tinha|tive) com a impressao (de que|que|de)
        sempre (ouvi|achei|pensei|me (disseram|falaram)|vi)
        (eu|) lembro (bem|) de (ter|que)
        (por|pelo) (que|o que) (eu|me) (sei|lembro|lembrava|disseram|falaram|consta)
        (estou|to|tava|estava) achando que (o|a|é|era|foi|dia)
        (i|we) (always|) (thought|believed|assumed|figured|understood) (that|) (it|he|she|they|this|that|the *|there|i|\
            we|you|*) (was|were|is|are|had|has|would|should|could|did)
        (i|we) (could|would) have sworn
        (i|we|id) (swear|swore)
        under the impression
        (pretty|quite|fairly|almost|nearly) (sure|certain|positive) (it|that|he|she|they|the|we|i|*)
        (not|hardly) convinced
        (i|we) (always|distinctly|clearly|definitely|do|) remember (it|him|her|them|the|being|paying|seeing|that|*)
        (could it be|is it possible) that
        (maybe|perhaps) it was
    """,
    # What the assistant itself is held to have said.
    "you_said": """
        (voce|tu|voces) (nao|ja|) (tinha|havia|tinhas) (dito|falado|informado|confirmado|escrito|passado)
        (voce|tu) nao (disse|falou|disseste|falaste|informou|confirmou)
        (ha|faz) pouco (voce|tu) (disse|falou|tinha)
        (did|had|have) (not you|you not) (just|) (say|said|tell|told|write|written|confirm)
        (did|had|have) not you (just|) (say|said|tell|told|write|written|confirm)
        you (just|) told (me|us) (earlier|before|yesterday|last|that|it|the)
        you (had|have|just|) (said|written|quoted|confirmed) (it|that|the|* (earlier|before|ago|yesterday|last))
        (a moment|minutes|earlier|yesterday|last week|before|ten minutes|five minutes) (ago|) you said
    """,
    # Surprise at what was said, with more to come.
    "surprised": """
        ^ (serio|sera|certeza|mesmo|como assim|ue|oxe|oxi|estranho|esquisito|curioso|impossivel|duvido|really|realy|\
            seriously|strange|odd|weird|funny|huh|impossible) (mesmo|isso|) ,
        ^ (hum|hmm|hm|) (,|) (sera|serio|certeza|estranho|strange|odd|weird) (,|$)
        (sounds|seems|looks) (a bit|very|rather|) (odd|strange|weird|off|fishy)
        (that|this|it) is (a bit|very|rather|) (odd|strange|weird|fishy)
        sei nao
        (out of date|outdated|mixed up|the other way round)
        (desatualizado|desatualizada|ao contrario|trocado|trocada)
        (é|isso é|que|bem|muito|meio|) (estranho|esquisito)
        (esse|essa|este|esta) (calculo|conta|soma|numero|valor|total) (está|nao|n) * (furado|furada|errado|\
            errada|bate|fecha)
        nada a ver ,
        (no|na|nao|) (coisa|coisissima) (nenhuma)
        no way ,
    """,
    # A slip of one's own, mended at once.
    "slip": """
        ^ (oops|whoops|ops|opa|sorry|desculpa|desculpe|perdao|digo|quer dizer|pera|perai|espera|god|oh god|oh no|\
            my bad|my mistake) ,
        (my mistake|my bad|swapped the|miscounted|mistyped|misspoke|contei errado|medi errado|digitei errado|\
            troquei (o|a|os|as)|confundi (com|o|a)|que cabeca a minha)
    """,
    # What was said no longer holds.
    "change": """
        (adiou|adiaram|antecipou|anteciparam|reduziu|reduziram|aumentou|aumentaram|subiu|subiram|caiu|cairam|mudou|\
            mudaram|alterou|alteraram|prorrogou|prorrogaram|baixou|baixaram|cortaram|cortou) * (para|pra|a)
        (adiou|adiaram|antecipou|anteciparam|reduziu|aumentou|subiu|caiu|mudou|mudaram|prorrogou|baixou|remarcou|remarcaram|\
            transferiu|transferiram|reagendou|reagendaram|passou|passaram) (para|pra|a)
        (foi|foram) (adiado|adiada|antecipado|antecipada|reduzido|reduzida|aumentado|aumentada|alterado|alterada|\
            prorrogado|prorrogada|cortado|cortada|corrigido|corrigida) (para|pra|a)
        agora (é|sao|passou|ficou|está)
        (cut|pushed|moved|bumped|raised|lowered|reduced|increased|changed|postponed|extended|delayed|shifted|dropped|\
            revised|brought forward|rescheduled) (back|forward|up|down|) (to|until)
        (is|are) now
    """,
    # The assistant's own documents say otherwise.
    "source_yours": """
        (your|the) (docs|doc|documentation|site|website|web site|manual|faq|pricing page|page|guide|policy|invoice|\
            contract|handbook|help center|email) (say|says|said|state|states|show|shows|list|lists|mention|mentions)
        (on|in) your (docs|documentation|site|website|manual|faq|pricing page|page|guide|policy|handbook|help center)
        (o|a|os|as) (site|manual|documentacao|contrato|edital|politica|regulamento|faq|pagina|guia|norma|ata) \
            (de voces|da empresa|) (diz|dizem|fala|falam|mostra|prevê|preve|informa|indica|lista)
        (no|na) (site|manual|documentacao|faq|pagina|guia) de voces
    """,
    "contested_way": """
        (that|this|it) is not how (we|it|you|they|things)
        (we|they) do not (do|use|have|work with) (it|that|this|them) (anymore|any more|any longer|like that)
        (we|they) (no longer) (do|use|have|work)
        (that|this|it) is no longer (the case|true|how|used|valid|right|in use)
        (we|they) (have|) (just|already|recently|) (moved|switched|migrated|changed) (over|) (to|from)
        (disagrees|disagreed) with (you|that|this|it)
        (the|) (right|correct|actual|real) (number|date|value|figure|amount|price|name|time|address) is
        nao é (mais|) assim que
        (ja|) nao (é|fazemos|usamos|funciona|vale|se faz|trabalhamos) mais (assim|isso|desse jeito|com isso|$)
        (nos|a gente|eles) (ja|) (migramos|mudamos|trocamos|passamos|migrou|mudou|trocou|\
            migraram|mudaram) (tudo|) (para|pra)
        (discorda|discordam|discordou) (de voce|disso|desse|dessa|do que)
        (o|a) (valor|numero|data|prazo|preco|nome|horario|endereco|dado) (certo|certa|correto|correta|\
            real) (é|sao|seria)
    """,
    "amended": """
        (foi|foram) (alterado|alterada|alterados|alteradas|revogado|revogada|modificado|modificada|substituido|\
            substituida|cancelado|cancelada|suspenso|suspensa) (por|em|no|na|pelo|pela|ontem|hoje)
        (was|were|has been|have been|got) (amended|revoked|replaced|cancelled|canceled|repealed|superseded|suspended) \
            (by|in|on|with|yesterday|last)
    """,
    # After an answered question: another thing was asked for.
    "repair_answered": """
        (i|we) (was|were) (actually|really|only|just|) (looking|asking|searching|talking|thinking|referring|after) \
            (for|about|of|to)
        (i|we) (was|were) (looking|asking|searching|talking|thinking|referring)
        (i|we) (actually|really|) meant
        ^ (i|we) (wanted|was after|asked for|asked about)
        instead $
        ^ instead
        , instead
        instead of
        rather than
        ^ not (the|that|this|about)
        , not (the|that|this|about|a)
        ^ wrong
        (be more|more|be) specific ,
        ^ (no|wait|sorry) (,|) (i|we) (want|need|would like|meant|am looking|was looking|was asking)
        ^ (no|nope|wait) , (find|show|give|get|tell) (me|us|) (the|one|about)
        (eu|) (quis|queria) dizer
        (eu|) (estava|tava) (so|) (perguntando|falando|procurando|pensando|buscando|me referindo|querendo)
        (eu|) (me referia|perguntei|procurava|buscava)
        ^ (eu|) (queria|quis) (saber|ver|ouvir|encontrar|ler)
        em vez (disso|de|do|da|dos|das)
        , (e|) nao (o|a|os|as|do|da|sobre)
        ^ nao (o|a|os|as|do|da) * ,
        ^ (nao|espera|desculpa|desculpe) , (eu|) (quero|queria|preciso|quis)
        ^ (nao|espera) , (acha|ache|mostra|mostre|busca|busque|procura|procure|me mostra|me da) (o|a|os|as|um|uma|de)
        (sendo|ser) mais (especifico|especifica|preciso|precisa)
    """,
}
