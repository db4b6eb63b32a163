"""The markers of each depth signal in Portuguese, of Brazil and of Portugal. Phrases only: no code.

One phrase per line (a backslash carries it on), folded, contractions spelt out: `isn't` is
`is not`, `vc` is `voce`. `(a|b)` is a choice, `(a|)` may be left out, `*` is one to three words of
any kind, `^` and `$` are the ends of a sentence, `,` is a pause. `é` and `está` keep their
accents: without them they are the words for *and* and *this*.
"""

MARKERS = {
    "greeting": """
        ^ (muito|) (bom|boa) (dia|tarde|noite)
        ^ (prezados|prezado|prezada|prezadas|caros|caro|cara)
        ^ (oi|oie|ola|opa|alo|salve)
        ^ ate (mais|logo|amanha|breve|ja|segunda|depois|a proxima)
    """,
    "dismissal": """
        ^ (nao|no|nope|nah) (muito|many|) (obrigado|obrigada|brigado|brigada|valeu|thanks|\
            thank)
        ^ (nao|) precisa
        ^ nao (é|e|era) (so|somente|apenas) isso
        ^ (é|e|era|seria|) (so|somente|apenas) isso
        ^ (por (enquanto|ora|agora|hoje) (é|e|) so|nada mais|mais nada|deixa pra la|deixe pra \
            la)
        ^ (agora|ainda|hoje) nao $
    """,
    "disagreement_strong": """
        (nao|nem) concordo
        concordo nao $
        discordo
        (tenho|preciso|sou obrigado a|permita me|permitame|devo|vou|venho) (que|de|) discordar
        nao (estou|to) de acordo
        nao (é|e) (bem|exatamente|nada|) (isso|assim|verdade|verdadeiro|o que (eu|) (disse|\
            pedi|perguntei|quis))
        nao foi (bem|exatamente|) (isso|assim|o que (eu|) (disse|pedi|perguntei|falei|quis))
        nao era (bem|) (isso|assim)
        nao foi isso que
        nada disso
        (isso|isto|essa informacao|a informacao) nao (procede|confere|bate|corresponde|é \
            verdade|e verdade)
        (isso|isto) nao (é|e|está|esta) (certo|correto|exato|verdade|verdadeiro|bem assim)
        (voce|tu|voces) (errou|erraste|erraram|errou|mentiu|confundiu|trocou)
        (voce|tu|voces) (se|te) (enganou|enganaste|enganaram|equivocou|confundiu|confundiram)
        (voce|tu|voces) (está|esta|estás|estas|estao) (muito|bem|completamente|totalmente|) (errado|\
            errada|errados|enganado|enganada|equivocado|equivocada|confundindo|misturando|\
            trocando)
        (voce|tu) entendeu (tudo|) errado
        (voce|tu|voces) (me|) (disse|falou|informou|respondeu|escreveu|afirmou) errado
        nunca (disse|falei|pedi|afirmei)
        nao (disse|falei|pedi|perguntei) (isso|nada disso)
        (estás|estas|está|esta) (enganado|enganada|equivocado|equivocada)
        (corrigindo|retificando|correcao|retificacao|errata) ,
        (quero|preciso|gostaria de|deixa eu|deixe me|vou|devo|tenho que) (te|lhe|me|o|) \
            corrigir
        (pelo|ao) contrario
        de (jeito|forma|maneira|modo) (nenhum|nenhuma|algum|alguma)
        mas (voce|voces|tu) (mesmo|me|) (disse|falou|informou|afirmou|tinha dito|havia dito|\
            acabou de dizer)
    """,
    "disagreement_weak": """
        (está|esta|estao|estava|estavam|parece|ficou|saiu|veio) (tudo|muito|bem|completamente|\
            totalmente|) (errado|errada|errados|erradas|incorreto|incorreta|incorretos|\
            incorretas|equivocado|equivocada|desatualizado|desatualizada|trocado|trocada)
        (isso|isto) (está|esta|é|e) (errado|errada|incorreto|falso|mentira|um erro|um engano)
        ^ (errado|errada|incorreto|negativo|mentira|falso)
        (é|e) (falso|mentira|inveridico) $
        ^ (alias|ou melhor|melhor dizendo|pensando (bem|melhor)) ,
        nao (está|esta|estao) (certo|certa|correto|correta|certos|corretos|batendo|bem)
        nao (bate|batem|confere|conferem|procede|procedem|corresponde|correspondem)
        nao faz sentido
        nao (acho|creio|acredito|penso) que
        duvido (que|disso|muito)
        (voce|tem|tens) (tem|) (certeza|mesmo certeza)
        (ha|tem|existe|houve) (um|algum) (erro|engano|equivoco) (ai|nisso|aqui|na sua|no que|\
            nessa|nesse)
        (mudei|mudamos) de (ideia|opiniao)
        (me enganei|errei|falei errado|escrevi errado|me confundi)
    """,
    "disagreement_actually": """
        ^ na (verdade|realidade)
        , na (verdade|realidade)
    """,
    "repair": """
        (muda|mude|altera|altere|troca|troque|corrige|corrija|coloca|coloque) (isso|o \
            (dia|prazo|horario|nome|valor)|a (data|hora)|) (para|pra|por)
    """,
    "repair_if_confirming": """
        ^ (espera|espere|perai|pera|opa|ops) ,
        (prefiro|preferia|preferiria)
        em vez (disso|de)
    """,
    "update": """
        (mudou|mudaram|mudada|passou|passaram|foi (alterado|alterada|adiado|adiada|antecipado|\
            antecipada|mudado|mudada|remarcado|remarcada|prorrogado|prorrogada|transferido|\
            transferida|atualizado|atualizada)) (para|pra)
        agora (é|e|sao|passou|ficou)
    """,
    "shift": """
        (mudando|mudar|mude|mudo|mudamos|vamos mudar|trocando|trocar|troque|virando|variando|\
            saindo) (um pouco|totalmente|completamente|agora|) (de|do|o|esse|desse) (assunto|\
            tema|topico|foco|pauta|rumo)
        (novo|proximo|outro|diferente) (assunto|tema|topico)
        (assunto|tema|topico) (novo|diferente|completamente diferente|totalmente diferente)
        (falando|falar|falamos|conversar|tratar|trate|perguntar|pergunto) (agora|) (de|sobre|) \
            (outra coisa|outro assunto|outro tema|algo diferente|uma coisa diferente)
        (passando|passar|passemos|vamos|indo|ir|pulando|pular) (agora|) (para|pra|ao|a) (outro|\
            outra|o proximo|a proxima|um outro|um novo) (assunto|tema|topico|questao|ponto|\
            coisa)
        (sem relacao|nada a ver) com (isso|o assunto|o tema|o que|a conversa|esse|este)
        (fora|saindo) (do|desse|deste) (assunto|topico|tema|contexto)
        (esquece|esqueca|esquecendo|deixa|deixe|deixando|deixemos) (isso|esse assunto|este \
            assunto|esse tema|esse|essa|aquilo)
        (vamos|quero|queria|gostaria de|preciso) (agora|) (falar|conversar|tratar) (agora|) \
            (de|sobre) outra
        (esquece|esqueca|deixa|deixe|deixemos|larga) (o|a|os|as|esse|essa|este|esta) * (de lado|(pra|para) (la|depois))
    """,
    "shift_hint": """
        ^ (por falar nisso|agora|ah|mais uma (coisa|pergunta|duvida)) ,
    """,
    "shift_announced": """
        ^ (ah|) (,|) (alias|a proposito|antes que eu esqueca|outra (coisa|pergunta|duvida|questao)) ,
        ^ (aproveitando|aproveitando que) ,
        ^ (ok|agora|entao|certo|bom|) (,|) (nova|outra) (pergunta|duvida)
        ^ (alias|a proposito|mudando) (,|) outra (coisa|pergunta|duvida|questao) ,
    """,
    "explanation": """
        por que
        ^ (e|mas|) porque
        porque $
        porque (de|da|do|das|dos|disso|desta|deste|desse|dessa)
        (explica|explique|explicar|explicas|expliques|explicando|explicacao|explicacoes|\
            explicou|explicame|explicaria)
        (esclareca|esclarece|esclarecer|esclarecas|esclarecimento|esclarecimentos)
        (detalha|detalhe|detalhar|detalhes|detalhada|detalhadamente|detalhamento|pormenores|\
            pormenorize)
        (aprofunda|aprofunde|aprofundar|aprofundas|elabora|elabore|elaborar|destrinche|\
            destrinchar)
        (contextualiza|contextualize|contextualizar|exemplifique|exemplifica|exemplificar)
        (desenvolve|desenvolva|desenvolver) (mais|melhor|esse|este|essa|a|o)
        (descreva|descreve|descrever|descrevas|caracterize)
        (discorra|disserte|comente|analise|analisa|avalie|interprete|interpreta|demonstre|\
            justifique|justifica|fundamente)
        como assim
        (o que|que) (significa|significam|quer dizer|queres dizer com|representa|representam|\
            implica|envolve|caracteriza|motivou|levou|causou|causa|provoca|muda|mudou|acontece|\
            ocorre)
        (em que|no que) consiste
        (para que|pra que) (serve|servem|é|e|existe)
        (fala|fale|conta|conte|diz|diga) (me|) (um pouco|mais|tudo|) (mais|) (sobre|do|da|dos|\
            das|de|a respeito)
        (quero|queria|preciso|gostaria de|ajuda a|ajude a|tentando|consigo|ajudar a) (entender|\
            compreender|perceber)
        (saber|entender|aprender) mais
        (saber|entender|aprender|conhecer|ler|falar) (mais|melhor) (sobre|de|do|da|isso|isto|\
            como)
        (motivo|motivos|razao|razoes|causa|causas|consequencia|consequencias|implicacao|\
            implicacoes|significado|definicao|conceito|finalidade|proposito|importancia|\
            relevancia|impacto|impactos|efeito|efeitos|origem|historico|fundamento|fundamentos|\
            justificativa|logica|papel|funcao|vantagem|vantagens|desvantagem|desvantagens|\
            beneficio|beneficios|risco|riscos|relacao) (de|do|da|dos|das|por|para|entre|que|\
            desse|dessa|deste|desta|disso|em|pelo|pela|no|na|e|$)
        (da|de|dar|me de|preciso de|quero|algum|alguns|um|outro|mais) (um|uma|alguns|algum|) \
            (exemplo|exemplos)
        (passo a passo|em detalhe|mais a fundo|com mais calma|trocado em miudos|em miudos)
        de que (forma|maneira|modo)
        (qual|quais) (é|e|sao|seria|foi|) (o|a|os|as|) (sentido|contexto|panorama|cenario|\
            mecanismo|raciocinio|criterio|criterios|principio|principios)
        (o que|que) (voce|voces) (acha|acham|pensa|recomenda|sugere)
        (vale a pena|é seguro|e seguro|faz mal|faz bem|é verdade que|sera que vale)
        o que (é|e|sao|seria|seriam|foi) (um|uma|o|a|os|as|)
    """,
    "explanation_weak": """
        nao (entendi|compreendi|percebi|entendo|percebo|ficou claro|está claro|esta claro)
        (ficou|fiquei) (confuso|confusa|com duvida|com duvidas|na duvida)
        (afeta|afetam|influencia|impacta|impactam|prejudica|melhora|aumenta|reduz|previne|\
            evita)
    """,
    "comparison": """
        (diferenca|diferencas|diferem|difere|distincao|distincoes|distingue|distinguir|\
            diferencia|diferenciar|diferencie)
        (versus|vs)
        (semelhanca|semelhancas|similaridade|similaridades)
        (em|tem em|ha em|de) comum
        (melhor|pior|maior|menor|superior|inferior|preferivel) (do que|que|entre|ou)
        (qual|quais|quem|deles|delas|dois|duas|o que) (é|e|sao|seria|) (o|a|) (melhor|pior|\
            mais (barato|barata|caro|cara|rapido|rapida|vantajoso|vantajosa|seguro|segura|\
            indicado|indicada|eficiente|adequado|adequada))
        (vantagens|desvantagens|beneficios) * (sobre|em relacao|frente) (a|ao)
        (compare|compara|comparar|comparando|comparacao|comparacoes|comparativo|comparativa|\
            comparado|comparada|comparados|comparadas|confronte|contraste|contrastar)
    """,
    "comparison_weak": """
        mais * (do que|que (o|a|os|as))
        menos * (do que|que (o|a|os|as))
        tao * (quanto|como)
        (igual|iguais|identico|identicos|parecido|parecidos|diferente|diferentes) (a|ao|aos|de|\
            do|da|dos|das|entre|que)
        (é|e|sao|seria) (a mesma coisa|o mesmo|iguais|diferentes) (que|$)
    """,
    "list_summary": """
        (liste|lista|listar|listes|listagem|listem)
        (enumere|enumera|enumerar|elenque|elenca|elencar|relacione|arrole)
        (todos|todas) (os|as)
        (mostra|mostre|mostrar|quero|traga|traz|exiba|exibe|ver|cite|cita|quais sao|quais) (me|\
            ) (todos|todas|tudo)
        (resuma|resumir|resumas|resumo|resumao|sintetize|sintetiza|sintetizar|sintese|\
            recapitule|recapitula|recapitular|recapitulando)
        (principais|pontos) (pontos|topicos|chave|principais|temas|ideias|conclusoes|destaques)
        (visao|apanhado) geral
        ^ (me|) resume
        (pode|me|voce) resume
        resume (o|a|os|as|isso|isto|me|para|em|tudo)
        (em|por) (topicos|itens|bullets)
        (quais|cite|cita|citar|nomeie|mencione) (sao|foram|seriam|algumas|alguns|tres|dois|\
            cinco)
        (um|o) panorama
    """,
    "how_to": """
        (passo|passos) (a passo|para|necessarios)
        (procedimento|instrucoes|instrucao|tutorial|roteiro|guia|manual|receita|fluxo|tramite|\
            tramites) (para|de|do|da|dos|$)
        (qual|quais) (é|e|sao|) (o|a|os|as|) (procedimento|processo|caminho|passos|etapas|\
            tramite|tramites|forma|maneira|modo|jeito|melhor forma|melhor maneira|melhor \
            jeito) (para|pra|de|correta|certo)
        (o que|que) (devo|preciso|posso|temos que|tenho que|tenho de|é preciso|e preciso|é \
            necessario|e necessario) (fazer|providenciar|apresentar|enviar|ter) (para|pra|se|\
            quando)
        (ensina|ensine|ensinar|mostra|mostre|oriente|orienta) (me|) (a|como)
        (saber|sei|entender|explica|explique|mostra|mostre|dizer|diz|diga|aprender|explicar|me|\
            ajuda|duvida de) como (eu|se|) (faco|fazer|faz|posso|proceder|devo)
        como (eu|) (faco|fazer|faz|fazemos|fazes|posso|podemos|devo|devemos|consigo|\
            conseguimos|proceder|procedo|procedemos)
        como (a gente|se|que se|é que se|é que eu|é que) (faz|pode|consegue|faco|posso)
    """,
    "temporal": """
        (na|da|a|nessa|dessa|naquela|daquela|essa|esta) (ultima|penultima|primeira|proxima) \
            (reuniao|vez|conversa|semana|chamada|call|sessao|visita|entrega|sprint|\
            apresentacao|assembleia|audiencia|consulta|aula)
        (no|do|o|nesse|desse) (ultimo|penultimo|primeiro) (mes|ano|trimestre|semestre|bimestre|\
            encontro|contato|email|relatorio|dia|quarter|fim de semana|ciclo|periodo|exercicio)
        (nos|nas|dos|das) (ultimos|ultimas|primeiros|primeiras) (tres|dois|duas|cinco|seis|dez|\
            doze|) (meses|anos|dias|semanas|trimestres|horas|reunioes)
        (semana|segunda|terca|quarta|quinta|sexta|noite|reuniao|gestao|safra|segunda-feira|\
            terca-feira|quarta-feira|quinta-feira|sexta-feira) passada
        (mes|ano|trimestre|semestre|sabado|domingo|verao|inverno|fim de semana|exercicio) \
            passado
        (mes|ano|semana|semestre|trimestre|reuniao|dia) (anterior|retrasado|retrasada)
        (ontem|anteontem|antes de ontem|outro dia|outrora|antigamente|recentemente|ultimamente|\
            naquela epoca|naquele dia|naquele mes|naquele ano|na epoca|da outra vez|na outra \
            vez|na vez passada)
        (ha|faz) (um|uma|dois|duas|tres|alguns|algumas|poucos|poucas|muito|varios|varias) (dia|\
            dias|semana|semanas|mes|meses|ano|anos|tempo|horas)
        (dia|dias|semana|semanas|mes|meses|ano|anos|horas) atras
        (nesta|esta|nessa|essa) semana
        (neste|este|nesse) (mes|ano|trimestre|semestre)
        (na|desde) (segunda|terca|quarta|quinta|sexta|segunda-feira|terca-feira|quarta-feira|\
            quinta-feira|sexta-feira)
        (no|desde) (sabado|domingo)
        (reuniao|conversa|encontro) (de|da|do) (ontem|segunda|terca|quarta|quinta|sexta|semana|\
            mes|sabado|domingo|hoje)
    """,
    "temporal_dated": """
        (em|de|desde|ate) (janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|\
            outubro|novembro|dezembro)
    """,
    "now": """
        que (horas|hora) (sao|é|e)
        que (dia|data|mes|ano) (é|e) hoje
        (qual|quais) (é|e|) (a (data|hora)) (de hoje|atual|agora)
    """,
    "event": """
        (quando|em que (dia|data|ano|mes|momento)|que dia) (foi|foram|aconteceu|ocorreu|\
            comecou|terminou|saiu|chegou|houve|teve|entrou|fizemos|fez|decidimos|assinamos)
        o que * (disse|falou|decidiu|pediu|respondeu|prometeu|perguntou|afirmou|comentou|propos|sugeriu|combinou|\
            aprovou|fez|fizeram|disseram|decidiram|quis)
        o que (aconteceu|ocorreu|houve|rolou|foi (dito|decidido|combinado|acordado|discutido|\
            falado|feito|definido|resolvido|acertado|entregue))
        (o que|quem|que) (decidiu|disse|falou|decidimos|combinamos|acordamos|discutimos|\
            falamos|definimos|resolvemos|acertamos|conversamos|prometeu|respondeu|perguntou|\
            pediu|afirmou|comentou|sugeriu|propos)
        (o que|como) (foi|foram|ficou|ficaram|terminou) (decidido|combinado|acordado|a reuniao|\
            a conversa|a visita|o encontro|a apresentacao)
        what (did|has|have) * (say|said|decide|decided|agree|agreed|promise|promised|discuss|\
            discussed|tell|told|mention|mentioned|ask|asked|do|done|happen)
    """,
    "memory": """
        ^ (me|) (lembra|lembre|relembra|relembre|recorda|recorde) (me|) (o que|qual|quais|quem|quando|onde|quanto)
        ^ (ainda|) (se|te|) (lembra|lembras|lembram|recorda|recordas) (se|) (de|do|da|dos|das|que|qual|quais|\
            quem|quando|onde|como|quanto|o|disso|daquilo|daquele|daquela)
        (voce|voces|tu|ce) (ainda|) (se|te|) (lembra|lembras|lembram|recorda|recordas)
    """,
    "opener": """
        ^ e
        ^ mas e
        ^ (ou|nem)
        ^ (continue|continua|continuar|prossiga|prossegue|proximo|proxima|siga|segue)
        (o|a|os|as) (primeiro|primeira|segundo|segunda|terceiro|terceira|ultimo|ultima|outro|\\
            outra|mesmo|mesma|mesmos|mesmas|anterior) $
        ^ (e|) (quanto|com relacao|em relacao|no caso) (a|ao|aos|as|de|do|da)
        ^ (alem disso|alem do mais|tambem|ainda sobre|sobre isso|sobre isto|nesse caso|neste \
            caso|nesse sentido|voltando|ainda)
        (o que|que|quem|onde|algo|alguma coisa|mais alguma coisa|algum outro|alguma outra) \
            mais $
        (o que|que|quem|quais|quantos) mais
        (mais algum|mais alguma|tem mais|ha mais|existem mais|mais um|mais uma)
        (outro|outra|outros|outras|demais|restante|restantes|o resto) $
    """,
    "meaning": """
        (o que|que|oque) (voce|tu|voces|ele|ela) (quis|quer|queria|quiseste|quiseram) dizer
        quis dizer
        (quer|queres) dizer (que|entao)
    """,
    "pleonastic": """
        (esta|está|faz|é|e) (chovendo|frio|calor|tarde|cedo)
    """,
    "pending_offer": """
        (mais|em) (alguma coisa|algo|que mais)
        (posso|podemos|poderia) (ajudar|te ajudar|ajuda-lo|auxiliar|fazer)
        (alguma|algum|mais alguma) (outra|outro|) (duvida|coisa|pergunta|pedido)
    """,
    "pending_confirmation": """
        (confirma|confirme|confirmar|confirmando|confere)
        (correto|certo|correta|certa|isso mesmo) $
        ^ (voce|o senhor|a senhora) (quer|deseja|gostaria|precisa)
    """,
    "command": """
        ^ (voce|) (pode|poderia|podia|consegue) (me|por favor|) (filtrar|enviar|mandar|mostrar|\
            melhorar|exportar|gerar|abrir|salvar|atualizar|remover|apagar|adicionar|ordenar|\
            traduzir|reescrever|corrigir|formatar|editar|renomear|converter|cancelar|\
            simplificar)
        ^ (por favor|please|agora|entao|now|then|ok|) (me|) (filtre|filtra|filtrar|envie|envia|\
            enviar|mande|manda|mandar|encaminhe|encaminha|mostre|mostra|mostrar|melhore|\
            melhora|melhorar|exporte|exporta|exportar|gere|gera|gerar|abra|abre|abrir|salve|\
            salva|salvar|atualize|atualiza|atualizar|altere|altera|remova|\
            remove|remover|exclua|exclui|apague|apaga|adicione|adiciona|acrescente|inclua|\
            inclui|ordene|ordena|agrupe|agrupa|baixe|baixa|imprima|imprime|traduza|traduz|\
            traduzir|reescreva|reescreve|reescrever|corrija|corrige|corrigir|formate|formata|\
            edite|edita|ajuste|ajusta|renomeie|converta|calcule|calcula|cancele|\
            cancela|copie|cole|execute|executa|rode|roda|\
            refaca|refaz|simplifique|simplifica|encurte|amplie|continue|aplique|aplica|use)
    """,
}
