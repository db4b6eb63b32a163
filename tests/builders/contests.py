"""Office talks in which something is contested without saying so, and messages that contest nothing."""

from agents.core.conversation.memory import Turns
from tests.builders.dialogues import talk

PRAZO = talk("Qual o prazo de entrega?", "O prazo de entrega é 15/4.")
MULTA = talk("Fui demitido. Qual é a multa?", "Na demissão sem justa causa a multa é de 40% do FGTS.")
BUDGET = talk("What is the budget of the migration?", "The budget of the migration is $120k.")
ORCAMENTO = talk("Qual o orçamento do projeto?", "O orçamento do projeto é de 300 mil reais.")
ADITIVO = talk("Fala do contrato com a Beta", "O contrato com a Beta tem cláusula de reajuste anual pelo IPCA.")
FERIAS = talk("Quantos dias de férias eu tenho?", "Você tem direito a 30 dias de férias por ano.")
DEPLOY = talk("How do we deploy the service?", "You deploy the service by running the Jenkins job by hand.")
SSO = talk("Which plan includes SSO?", "SSO is included in the Enterprise plan.")
ATLAS_PT = talk("Como está o projeto Atlas?", "O projeto Atlas está na fase 2, com dois desenvolvedores.")
PETR4 = talk("Como está a PETR4?", "A PETR4 fechou a R$ 38,20, em alta de 1%.")
CLUB = talk("Who founded the club?", "The club was founded by Pedro Alves in 1902.")
CAPITAL = talk("Which river flows through Coimbra?", "The Mondego flows through Coimbra.")
ESCRITOR = talk("Quem escreveu o romance?", "O romance foi escrito por Eça de Queirós em 1888.")
RECAP = talk("Reserva uma mesa para dois", "Mesa para dois no dia 7, certo?")
RECAP_EN = talk("A table for two please", "A table for two on the 7th, right?")
WHEN = talk("Set the bell", "When shall the bell ring?")
QUANDO = talk("Quero marcar a consulta", "Para que dia e horário?")
MEETING = talk("When is the review meeting?", "The review meeting is on Tuesday at 10 am.")
PRECO = talk("Quanto custa o plano Pro?", "O plano Pro custa R$ 89 por mês.")
GARANTIA = talk("Qual é a garantia da cafeteira?", "A garantia da cafeteira é de 12 meses.")
EQUIPE = talk("Quem é o gerente do projeto Netuno?", "O gerente do projeto Netuno é o Carlos.")
ALUGUEL = talk("Qual o valor do aluguel?", "O aluguel da sala é de R$ 2.400 por mês.")
VOO = talk("que horas sai o voo?", "O voo sai às 14h20 do terminal 2.")
SERVERS = talk("How many servers do we run?", "We run 14 servers in two regions.")
LEAVE = talk("How much parental leave do I get?", "You get 16 weeks of parental leave.")
ASSINOU = talk("Quem assinou o contrato?", "Quem assinou o contrato foi o Renato.")
SHIPPED = talk("Where did it ship from?", "It was shipped on Monday from the Bristol depot.")

# The message gives another value than the last exchange, says who says otherwise, or repairs what was asked.
CONTESTING: tuple[tuple[str, Turns, str], ...] = (
    ("acho que não, hein. Me falaram dia 20", PRAZO, "pt"),
    ("meu advogado disse que são 50%", MULTA, "pt"),
    ("o sindicato falou em 45%", MULTA, "pt"),
    ("me disseram que são 50%", MULTA, "pt"),
    ("my colleague disagrees with you on price", BUDGET, "en"),
    ("O cliente adiou para o dia 20", PRAZO, "pt"),
    ("Na reunião de ontem ficou definido 20 de abril", PRAZO, "pt"),
    ("não, 20", PRAZO, "pt"),
    ("agora é dia 20", PRAZO, "pt"),
    ("o valor certo é 280 mil", ORCAMENTO, "pt"),
    ("Na planilha consta R$ 280 mil", ORCAMENTO, "pt"),
    ("Segundo a ata, o orçamento é de 280 mil", ORCAMENTO, "pt"),
    ("o orçamento foi reduzido para 280 mil", ORCAMENTO, "pt"),
    ("você tinha dito 280", ORCAMENTO, "pt"),
    ("A cláusula de reajuste foi alterada por aditivo em janeiro", ADITIVO, "pt"),
    ("como assim 30? no meu contrato são 20", FERIAS, "pt"),
    ("I thought it was 150k", BUDGET, "en"),
    ("finance told me $150,000", BUDGET, "en"),
    ("isn't it 150?", BUDGET, "en"),
    ("it got cut to 90k yesterday", BUDGET, "en"),
    ("that's not how we do it anymore", DEPLOY, "en"),
    ("we moved to ArgoCD last month", DEPLOY, "en"),
    ("your docs say Pro includes SSO", SSO, "en"),
    ("I read on your site that Pro has it too", SSO, "en"),
    # of the same kinds, other talks
    ("a Ana me passou terça às 11h", talk("Quando é a revisão?", "A revisão é terça às 10h."), "pt"),
    ("conforme o manual são 24 meses", GARANTIA, "pt"),
    ("na caixa está escrito 24 meses", GARANTIA, "pt"),
    ("o vendedor falou em dois anos", GARANTIA, "pt"),
    ("no site de vocês aparece R$ 79", PRECO, "pt"),
    ("ué, pra mim cobraram 99", PRECO, "pt"),
    ("pensei que fosse R$ 79", PRECO, "pt"),
    ("não seria o João?", EQUIPE, "pt"),
    ("a gerente é a Marina", EQUIPE, "pt"),
    ("according to the invite it's at 11 am", MEETING, "en"),
    ("my calendar says Wednesday", MEETING, "en"),
    ("it was pushed to Thursday", MEETING, "en"),
    ("Bob said it was moved to noon", MEETING, "en"),
    ("o dono me cobrou 2.600", ALUGUEL, "pt"),
    ("no contrato está 2.250", ALUGUEL, "pt"),
    ("o aluguel é R$ 2.500", ALUGUEL, "pt"),
    ("no cartão de embarque está 15h10", VOO, "pt"),
    ("remarcaram para 16h", VOO, "pt"),
    ("acho que é às 16h", VOO, "pt"),
    ("the dashboard shows 17", SERVERS, "en"),
    ("wasn't it 18?", SERVERS, "en"),
    ("HR told me 20 weeks", LEAVE, "en"),
    ("I'm pretty sure it's 18", LEAVE, "en"),
    # repair of what was asked, after an answered question
    ("I was looking for the one in Leiria", CAPITAL, "en"),
    ("I meant the smaller river", CAPITAL, "en"),
    ("What I was after is its length.", CAPITAL, "en"),
    ("Sorry, what I wanted to know is the year", CLUB, "en"),
    ("What I meant was the second club", CLUB, "en"),
    ("I should have said the one in Leiria.", CAPITAL, "en"),
    ("O que eu queria era o ano.", ESCRITOR, "pt"),
    ("o que eu quis dizer foi o segundo romance", ESCRITOR, "pt"),
    ("Desculpa, o que procurava era a editora", ESCRITOR, "pt"),
    ("Eu devia ter dito o plano Basic.", PRECO, "pt"),
    ("Queria o preço anual, desculpa.", PRECO, "pt"),
    ("Eu estava perguntando do anual. Quero falar do plano anual", PRECO, "pt"),
    ("the smaller one rather than the Mondego", CAPITAL, "en"),
    ("not the Mondego, the other one", CAPITAL, "en"),
    ("wrong river", CAPITAL, "en"),
    ("I was asking about Leiria", CAPITAL, "en"),
    ("No, I want to know about Leiria", CAPITAL, "en"),
    ("eu quis dizer o conto", ESCRITOR, "pt"),
    ("estava perguntando do conto", ESCRITOR, "pt"),
    ("em vez disso, o conto", ESCRITOR, "pt"),
    ("o conto, e não o romance", ESCRITOR, "pt"),
    ("eu queria saber do segundo volume", ESCRITOR, "pt"),
    ("I was talking about his second wife", CLUB, "en"),
    ("I wanted the street, that is", CLUB, "en"),
    ("Give me the novel, not the opera", CLUB, "en"),
    ("the summit instead of the pass", CLUB, "en"),
    ("to be specific, the northern branch", CLUB, "en"),
    ("No, I need the eldest one", CLUB, "en"),
    ("No, find the one in Braga", CLUB, "en"),
    ("Não, mostra o de Braga", ESCRITOR, "pt"),
    # another value given to a recap
    ("only my sister comes along", RECAP_EN, "en"),
    ("we will be five by then", RECAP_EN, "en"),
    ("No, better the ninth", RECAP_EN, "en"),
    ("seremos cinco", RECAP, "pt"),
    ("melhor no dia 9", RECAP, "pt"),
    # doubt of what was said, a denial of it, a slip mended
    ("Achei que fosse o Pedro", ASSINOU, "pt"),
    ("jurava que era a Luana quem assinava", ASSINOU, "pt"),
    ("tu não falou ontem que era outro?", ASSINOU, "pt"),
    ("o Renato não assinou contrato nenhum", ASSINOU, "pt"),
    ("estranho, no cartório me deram outro nome", ASSINOU, "pt"),
    ("I was under the impression it was Leeds", SHIPPED, "en"),
    ("You told me earlier it was another depot", SHIPPED, "en"),
    ("The Bristol depot never ships on Mondays", SHIPPED, "en"),
    ("Bristol? The label on the box is from Cardiff.", SHIPPED, "en"),
    ("really? my tracking page has it elsewhere", SHIPPED, "en"),
    ("sorry, the 23rd", talk("My flight is on the 21st, note it", "Noted: flight, the 21st."), "en"),
    ("o show só começa às 22h", talk("Que horas é o show?", "O show começa às 20h."), "pt"),
)


# They bring a value, a source or a marker, and contest nothing.
CONTENT_WITH: tuple[tuple[str, Turns, str], ...] = (
    ("What I wanted to know is answered, thanks", CLUB, "en"),
    ("What I was looking for was this, perfect", CLUB, "en"),
    ("I should have said thanks earlier", CLUB, "en"),
    ("In euros instead, please", BUDGET, "en"),
    ("O que eu queria era agradecer", ESCRITOR, "pt"),
    ("o que eu procurava era isto mesmo", ESCRITOR, "pt"),
    ("Eu devia ter perguntado antes, obrigado", PRECO, "pt"),
    ("Queria o resumo, desculpa o incómodo", ESCRITOR, "pt"),
    ("Let's talk about the stadium instead.", CLUB, "en"),
    ("Could we talk about Leiria instead?", CAPITAL, "en"),
    ("What I need is on page 4, thanks for that", CLUB, "en"),
    ("What is the length of it?", CAPITAL, "en"),
    ("Vamos falar do filme em vez disso.", ESCRITOR, "pt"),
    ("Prefiro falar do plano anual", PRECO, "pt"),
    ("O que eu queria saber sobre o autor?", ESCRITOR, "pt"),
    ("E se eu pagar 20 parcelas?", ORCAMENTO, "pt"),
    ("e quanto seria para 2027?", ORCAMENTO, "pt"),
    ("ok, dia 15 de abril então", PRAZO, "pt"),
    ("Quantos dias faltam até o dia 20?", PRAZO, "pt"),
    ("posso entregar dia 10?", PRAZO, "pt"),
    ("O que diz o artigo 477?", MULTA, "pt"),
    ("Trabalhei 3 anos e 4 meses e ganhava 2500", MULTA, "pt"),
    ("e para quem tem 60 anos?", FERIAS, "pt"),
    ("Make it for the early evening", WHEN, "en"),
    ("Set it for a quarter past six", WHEN, "en"),
    ("prefiro terça às 10h", QUANDO, "pt"),
    ("coloca para quinta às 9h", QUANDO, "pt"),
    ("the budget is $120k, great", BUDGET, "en"),
    ("can we split $120k over 3 years?", BUDGET, "en"),
    ("Actually, find me a cheaper one", talk("Find a hotel", "The Grand has 4 stars and costs $200."), "en"),
    ("no we are through", talk("Book it", "Booked. More wishes?"), "en"),
    ("Is it furnished?", talk("A flat with a garden", "You want the flat with a garden?"), "en"),
    ("book a table for 4 at 8 pm", MEETING, "en"),
    ("Who else is on the 10 am call?", MEETING, "en"),
    ("remind me 15 minutes before", MEETING, "en"),
    ("meu telefone é 11 99999-0000", QUANDO, "pt"),
    ("envia para 3 pessoas", PRAZO, "pt"),
    ("Meu filho tem 3 anos", talk("Oi", "Olá! Em que posso ajudar?"), "pt"),
    ("I have two dogs and a cat", talk("I love animals", "Me too! I have three horses."), "en"),
    ("I work 60 hours a week", talk("hi how are you", "I am tired, I worked 10 hours today."), "en"),
    ("My sister lives in Porto", talk("hi", "Hello, I live in Lisbon."), "en"),
    ("tenho 2.400 na conta", ALUGUEL, "pt"),
    ("a sala tem 40 metros", ALUGUEL, "pt"),
    ("moramos em 4 pessoas", ALUGUEL, "pt"),
    ("ok, 14h20 então", VOO, "pt"),
    ("chego às 13h no aeroporto", VOO, "pt"),
    ("meu aniversário é dia 20 de maio", PRAZO, "pt"),
    ("add 2 more servers", SERVERS, "en"),
    ("great, 16 weeks is plenty", LEAVE, "en"),
    ("I plan to take 8 weeks first", LEAVE, "en"),
    ("What if I disagree with the number?", LEAVE, "en"),
    ("Nope, my parents are retired", talk("hi", "Are your parents retired?"), "en"),
    ("Whose voice is it?", talk("set it", "Shall it sound now?"), "en"),
    ("Until Saturday", talk("I need a room", "You leave on the 4th, right? How many nights?"), "en"),
    ("Actually, to Faro on Monday", talk("A ticket please", "Where to?"), "en"),
    ("And I actually need two rooms", talk("Find a hotel", "The Grand has rooms."), "en"),
    ("No, look in Braga", talk("Find a hotel", "How about the Grand?"), "en"),
    ("No, now order the bicycle", talk("Book it", "It is done. Anything else?"), "en"),
    ("Ele me deu dois anos de garantia.", talk("O Gilmar fez a obra", "Certo, obra feita pelo Gilmar."), "pt"),
    ("Não tem erro, foi o Renato mesmo", ASSINOU, "pt"),
    ("Perfeito, era esse nome que eu procurava", ASSINOU, "pt"),
    ("anota pra eu não esquecer do contrato", ASSINOU, "pt"),
    ("Can you tell me the depot's phone number?", SHIPPED, "en"),
    ("if the depot is not open, I will call", SHIPPED, "en"),
    ("I am not at the depot on Monday", SHIPPED, "en"),
    ("is it possible to visit the depot", SHIPPED, "en"),
    ("what was the street you told me before", SHIPPED, "en"),
    ("the depot's heating is off on Mondays", SHIPPED, "en"),
    ("não vou assinar o contrato hoje", ASSINOU, "pt"),
    ("tenho certeza que o Renato vai gostar", ASSINOU, "pt"),
    ("Fine, the 56 then.", talk("Which oven fits?", "The 56 cm model fits; the 60 cm one is too wide."), "en"),
)
