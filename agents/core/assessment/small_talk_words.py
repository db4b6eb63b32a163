"""Words that stand for each other in small talk: one of a class is weighed like all of them. Folded, no apostrophes."""

from collections.abc import Mapping
from functools import lru_cache

CLASSES: Mapping[str, str] = {
    "hello": """hi hello hey heya heyo hiya yo howdy hola aloha bonjour greetings salutations ahoy wassup sup oi
        oie ola opa alo salve eae eai saudacoes""",
    "bye": """bye byebye buhbye bye-bye goodbye good-bye cya ttyl later laters farewell adios ciao sayonara
        toodles tata cheerio goodnight tchau tchauzinho xau adeus flw fui""",
    "thanks": """thanks thank thx thnx ty tysm tks cheers appreciate appreciated grateful thankful gratitude merci
        gracias arigato obliged obrigado obrigada obrigados obrigadas obrigadao obrigadinho obrigadissimo
        obrigadissima brigado brigada brigadao obg valeu vlw gratidao grato grata agradeco agradecemos
        agradecer agradecido agradecida tmj""",
    "praise": """great awesome cool nice sweet lovely wonderful excellent brilliant amazing fantastic perfect
        superb neat terrific fabulous marvelous outstanding splendid interesting impressive pleasant
        enjoyable perfeito perfeita otimo otima excelente maravilha maravilhoso maravilhosa legal massa
        bacana show top topzera joia sensacional incrivel genial fantastico fantastica arrasou lindo linda""",
    "ok": """ok okay okey okie okk oks k kk alright alrighty understood gotcha noted roger certo certinho blz
        beleza bele entendi entendido compreendi saquei captei anotado combinado fechado tranquilo suave""",
    "oh": """ah aah oh ooh uh um hm hmm hum huh wow uau nossa eita oops opa haha hehe lol""",
    "yes": """yes yep yeah yea yup yah sim ss aham uhum sure certainly absolutely definitely indeed claro exato
        exatamente positivo affirmative afirmativo""",
    "sorry": """sorry pardon apologies apologize excuse desculpa desculpe desculpas perdao perdoe""",
    "mate": """friend buddy dude man mate pal bro sir madam everyone folks team guys fella fellow comrade champ
        boss chief robot bot assistant ai computer amigo amiga amigos cara chapa irmao irma velho mano
        parceiro parceira querido querida pessoal gente galera todos robo assistente senhor senhora""",
    "luck": """congrats congratulations parabens merry happy feliz felicidades""",
    "you": """you u ya yall thou voce vc voces vcs tu youre youve youll""",
    "your": """your yours ur seu sua seus suas teu tua""",
    "day": """day night morning evening afternoon weekend week dia tarde noite manha semana""",
    "repeat": """repeat restate rephrase reiterate replay reword repita repete repetir repetisse reformular
        reformule reformula""",
    "made": """made created built programmed invented developed designed coded criou fez programou desenvolveu
        inventou construiu""",
    "help": """help assist assistance aid ajuda ajudar ajude ajudam auxiliar""",
    "can": """can could able capable pode poderia podem podes consegue consegues capaz""",
    "ask": """ask asked question questions inquire query queries pergunta perguntas perguntar pergunto duvida
        duvidas""",
    "topics": """topics topic subjects subject things thing stuff kinds kind types type sorts sort tasks areas
        categories assuntos assunto temas tema coisas coisa tipos tipo tarefas topicos""",
    "skills": """skills skill capabilities abilities ability talents functions features limits limitations commands
        habilidades capacidades funcoes funcao limites comandos especialidade especialidades talentos""",
    "talk": """talk talking talked chat chatting chatted speak speaking conversation converse conversing catch
        conversar conversando conversa papo papear""",
    "say": """say says said saying tell told telling mention mentioned disse diz diga dizer dizendo fala fale
        falar""",
    "know": """know known knowledge knowledgeable knowledgable familiar versed aware comprehend understand sabe
        sabem saber conhece conhecem entende entendem domina""",
    "good": """good fine well bom boa bem better""",
    "very": """very really so truly muito muita demais mesmo bastante super mucho too""",
    "again": """again once novamente denovo""",
    "leave": """leave leaving go going run head heading ir indo sair embora""",
    "saved": """saved helped salvou ajudou helpful""",
    "joke": """joke jokes piada piadas""",
}


@lru_cache(maxsize=1)
def class_of() -> Mapping[str, str]:
    """The class of each word that has one."""
    return {word: f"<{name}>" for name, words in CLASSES.items() for word in words.split()}
