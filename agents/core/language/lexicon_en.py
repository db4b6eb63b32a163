"""The markers of each depth signal in English. Phrases only: no code.

One phrase per line (a backslash carries it on), folded, contractions spelt out: `isn't` is
`is not`, `vc` is `voce`. `(a|b)` is a choice, `(a|)` may be left out, `*` is one to three words of
any kind, `^` and `$` are the ends of a sentence, `,` is a pause.
"""

MARKERS = {
    "greeting": """
        ^ (hello|hi|hey|hiya|yo|greetings)
        ^ good (morning|afternoon|evening|day)
    """,
    "dismissal": """
        ^ (that|this) (is|was|will be) (all|it|everything|enough)
        ^ that will (do|be all)
        ^ (that is|this is) (about|) (all|everything)
        ^ (nothing|no|nope) (else|more|further|at all)
        ^ (i am|we are) (good|fine|ok|okay|done|all set|set|all good)
        ^ not (right now|now|today|yet|at the moment|for now|at this time|really|necessary|\
            needed)
        ^ (no|not) (need|worries|problem|rush)
        ^ (do not|never) (bother|mind|worry) $
    """,
    "disagreement_strong": """
        i (strongly|completely|totally|really|respectfully|have to|must|would|) disagree
        i (do|would|can) not (really|quite|fully|) agree
        i beg to differ
        (that|this|it|which|what you (said|told me|wrote)) is (just|simply|completely|totally|\
            clearly|factually|also|still|) (wrong|incorrect|false|untrue|inaccurate|mistaken|\
            not right|not correct|not true|not accurate|not the case)
        (that|this) is not (quite|really|even|entirely|exactly|) (right|correct|true|accurate|\
            it|so|what (i|we|you) (said|meant|asked|want|wanted|ordered|requested|was asking))
        (that|this|it) was not (quite|really|) (right|correct|true|what (i|we) (said|meant|\
            asked|wanted))
        (you|u) (are|were) (just|simply|completely|totally|clearly|still|) (wrong|mistaken|\
            incorrect|confused|confusing|mixing)
        you (got|have|had) (it|that|this|them|something) (all|) (wrong|mixed up|backwards)
        you (misunderstood|misread|misheard|misquoted|mixed up|confused)
        you (have|) (made|make) (a|an|) (mistake|error)
        (not|hardly) true
        not what (i|we) (said|meant|asked|want|wanted|requested)
        i (did not|never) (say|said|ask|asked) (that|this|for that|for this)
        but you (just|also|) (said|told me|mentioned|claimed|stated|wrote)
        (let me|i need to|i have to|i want to|i must) correct
        on the contrary
        (correction|erratum) ,
    """,
    "disagreement_weak": """
        (is|are|was|were|looks|seems|sounds) (all|just|simply|completely|totally|clearly|) \
            (wrong|incorrect|outdated|inaccurate|mistaken)
        (it|that|this) (is|was) (a|an) (mistake|error|lie)
        (does|do|did) not (quite|really|) (match|add up|look right|seem right|sound right|make \
            sense|look correct|seem correct)
        (not|is not) (quite|exactly) (right|correct|accurate|it)
        i do not (think|believe) (that|so|it|this|you|the|we)
        i doubt (it|that|this)
        are you (really|absolutely|quite|) (sure|certain)
        ^ you (sure|certain)
        ^ (wrong|incorrect|false)
        (was|were) not (it|that|this|he|she|they|there) (the|on|at|supposed)
        that contradicts
        (makes|made) no sense
    """,
    "disagreement_actually": """
        ^ actually
        , actually
    """,
    "repair": """
        i (actually|really|) meant
        on second thought
        ^ (please|can you|could you|let us|) (just|please|) (make|change|switch|move|set|\
            update|modify|correct) (it|that|this|them|the (date|time|day|number|name)) (to|for|\
            on|at)
        (changed|change) my mind
    """,
    "repair_if_confirming": """
        instead
        (actually $|i actually)
        ^ (wait|hold on|hang on|oops) ,
        (i would|i had) rather
        i (would|) prefer
    """,
    "update": """
        (has|have|was|were|been|got) (moved|changed|postponed|rescheduled|updated|pushed|\
            extended) to
        (moved|changed|went|slipped) to the
        is now (the|on|at|in|due)
    """,
    "shift": """
        (change|changing|switch|switching|shift|shifting|to change) (of|the|) (subject|\
            subjects|topic|topics|gears|theme|tack)
        (new|different|another|next|unrelated|separate) (topic|subject|matter)
        (something|anything) (completely|totally|entirely|) (different|unrelated)
        on (a|another) (different|completely different|totally different|another|separate|\
            unrelated|) (note|topic|subject)
        ^ (let us|) (move|moving) on
        (unrelated|off topic|off-topic) (question|to this|to that|but|,)
        (forget|drop|leave|skip|never mind) (about|) (that|this|it|all that|the previous)
        (forget|leave|park) (about|) (the|my|our) * for (now|later|a (sec|second|moment|minute|bit)|the moment)
        (talk|speak|ask|chat) (you|) about something (else|different|new)
        (nothing|not) to do with (this|that|it|the previous)
    """,
    "shift_hint": """
        ^ (incidentally|separately|also|next|one more thing|another (thing|question)|quick question) ,
    """,
    "shift_announced": """
        ^ (by the way|btw)
        ^ (ok|okay|now|so|alright|) (,|) (a|) (new|different|next|unrelated) question
        ^ (by the way|btw|) (,|) (something else|another thing|different question) ,
        ^ (one more thing|another (thing|question)|separately|incidentally) ,
    """,
    "explanation": """
        why
        y (do|does|did|is|are|cant|dont)
        how come
        (explain|explains|explaining|explanation|elaborate|clarify|clarification|expand on|\
            expound|interpret|justify|illustrate|describe|discuss|analyze|analyse|evaluate|\
            define)
        (tell|teach|show) me (a bit|a little|some|) (more|about|everything|all)
        (tell me|talk|talk to me|speak) about
        (want|like|love|need|trying|help me|helps me|like me|able) (to|) (understand|know more|\
            learn more|learn about|know about|hear more|grasp)
        (more|further|additional|in more|greater) (detail|details|information|info|context|\
            background) (on|about|regarding|please|$)
        (in|with) (more|) (detail|details|depth)
        what (does|do|did|is|are) (that|this|it|they|you|the|a|an) mean
        what (does|do) * mean
        what is meant by
        mean $
        (meaning|definition|purpose|significance|importance|role|impact|effect|effects|\
            influence|influences|implications|consequences|causes|benefits|advantages|\
            disadvantages|drawbacks|downsides|history|background|origin|origins|rationale|\
            reasoning|reasons|reason|relationship|symptoms|principles|concept|idea|logic|\
            mechanism|theory|treatment|treatments|risks|types|kinds) (of|for|behind|between|on|\
            in|that|why)
        (meaning|definition|definitions|explained) $
        (pros and cons|pro and con|trade offs|tradeoffs|trade-offs)
        (an|some|any|more|another|a few|good|concrete) (example|examples)
        (for|as an) example $
        what (causes|caused|makes|made|happens|happened to|leads to|led to|drives|triggers|\
            explains|prevents)
        what (is|was) (behind|the point|the deal|so special|wrong with|the big deal)
        (elements|characteristics|features) of
        is it (safe|bad|good|ok|okay|healthy|better|worth|dangerous|harmful|true|normal|wise) (to|for|that|if)
        (walk me through|break down|break it down|dig into|dig deeper|deep dive|go deeper|shed \
            light|shed some light|make sense of|in layman terms|eli5)
        what (would|will) happen
        what if
        what do you (think|recommend|suggest)
        (should i|should we|would you recommend)
    """,
    "explanation_weak": """
        i (do|did) not (quite|really|fully|) (understand|get|follow|see)
        (not|is not|was not) (very|entirely|really|) clear
        (i am|still|bit) (confused|lost|unsure)
        (confusing|unclear) $
        (does|do|can|will|would|could) * (affect|cause|causes|help|improve|increase|reduce|\
            prevent|hurt|harm|damage|benefit|influence|impact|work better)
    """,
    "comparison": """
        (difference|differences|differ|differs|differing|distinguish|distinguishes|distinction|\
            diffrence|differentiate)
        different between
        (compare|compares|compared|comparing|comparison|comparisons|contrast)
        (similarities|similarity|in common)
        (which|who|what) (one|of them|of these|of those|of the two|) (is|are|was|were) (the|) \
            (better|best|worse|worst|cheaper|faster|safer|stronger|more)
        (is|are) * (better|worse) or
    """,
    "comparison_weak": """
        different (from|than|to)
        similar to
        (better|worse|cheaper|faster|bigger|larger|smaller|older|safer|stronger|higher|lower|\
            greater|more * ) than
        (the same as|the same thing|as good as|relative to|as opposed to|rather than|equal to)
    """,
    "list_summary": """
        ^ (please|) (list|enumerate|itemize|itemise)
        (can you|could you|would you|me|to|please) (list|enumerate|itemize)
        (a|the|complete|full|short) list of
        (key|main) (points|takeaways|takeaway|ideas|findings|conclusions|topics|themes|\
            highlights)
        (show|give|tell|send|get) me (all|every|a list|everything)
        ^ all (the|of the|our|my|your|their)
        bullet points
        name (all|some|three|two|five|a few)
        (summarize|summarise|summarizing|summary|summaries|sum up|recap|synopsis|tl \
            dr|tldr|tl;dr|overview|rundown|outline)
        what are (the|some|all|your|our|their|different|common|good)
    """,
    "how_to": """
        how to
        what to do (to|if|when|about|for|with|in)
        how (do|can|could|should|would|might|must|will|did) (i|we|you|one|u|someone|people|\
            anyone|my|somebody)
        (steps|instructions|procedure|process|guide|tutorial|recipe|directions|tips|\
            requirements|best way|easiest way|right way|fastest way|simplest way|way) (to|for|\
            on)
        what (do|should|must|can|would) (i|we|you|one) (need to|have to|) (do|have|bring|\
            submit|file) (to|for|if|when|about|in order)
        (show|teach|help|guide|walk) me (through|how|to|do|fix|set|make|create)
        step by step
    """,
    "temporal": """
        (last|previous|past) (week|month|year|quarter|meeting|time|night|call|session|monday|\
            tuesday|wednesday|thursday|friday|saturday|sunday|sprint|conversation|visit|\
            weekend|summer|spring|fall|winter|semester|january|february|march|april|may|\
            june|july|august|september|october|november|december)
        (in|over|during) the (last|past|previous) (few|two|three|five|six|ten|couple|) (of|) \
            (days|weeks|months|years|quarters|hours|meetings)
        (yesterday|the day before|the other day|recently|lately|back then|at that time|at the \
            time|those days)
        (day|days|week|weeks|month|months|hour|hours|while) ago
        (this|that) (week|month|quarter|morning)
        (yesterday's|earlier) (meeting|call|conversation|today|this)
    """,
    "temporal_dated": """
        (last|previous|past) season
        (on|since) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)
        (year|years) ago
        (this|that) year
        (in|since|until) (january|february|march|april|june|july|august|september|october|\
            november|december)
    """,
    "now": """
        what (time|day|date|year|month) is (it|today)
        what is (the|today) (time|date|day|current (time|date))
    """,
    "event": """
        what (happened|went on|occurred|was (said|decided|agreed|discussed|promised|done))
    """,
    "memory": """
        (do|did|can|could) you (still|even|) (remember|recall)
        ^ (remember|recall) (when|what|who|where|which|how|that|my|our|the)
        you (remember|recall) (when|what|who|where|which|how|that|my|our|the)
        remind me (what|when|who|where|which|how) (i|we|you|he|she|they)
    """,
    "opener": """
        ^ and
        ^ (but|so|then|ok|well) (what|how) about
        (what|how) about
        ^ (also|besides|in addition|furthermore|additionally|in that case|back to|going back|\
            returning|as for|regarding that|on that|related to that|still on)
        ^ (or|nor)
        the (first|second|third|last|other|former|latter) (one|) $
        (anything|something|what|who|where|how|anyone|nothing) else
        (any|some|what|which|the|are there|were there) (other|others|more)
        (are|were|is) there (any|) more
        ^ (continue|go on|keep going|carry on|proceed|\
            next)
    """,
    "meaning": """
        what (did|do|does) (you|u|he|she|they) mean
        (you|so you) mean
        (do|did) you mean
    """,
    "pleonastic": """
        what time is it
        (what|which) (day|date|year|month) is it
        is it (raining|snowing|hot|cold|sunny|late|early|cloudy|windy|possible|true|ok|okay|\
            safe|legal|normal|better|good|bad|worth|necessary|healthy|easy|hard|dangerous|\
            illegal|allowed|wise|important|common|correct|right|wrong|time) (to|that|if|for|in|\
            at|when|today|tomorrow|outside)
        (does|did|do|will|would|can|should|could) it (take|cost|mean|make sense|rain|snow|\
            matter|hurt) (to|that|if|for|in|tomorrow|today|when)
        it (takes|took|costs|is possible|is true|is important|is necessary|is raining|seems|\
            turns out|is time|is worth|is said)
        how (long|much|far|many *) (does|did|will|would|is|can) it (take|cost|to)
        what is it (like|called|about)
        (make|makes|made|find|found|think|believe|consider) it (easy|hard|difficult|possible|\
            easier|clear|harder)
        (that is|this is) (to say|why i)
    """,
    "pending_offer": """
        (anything|something|what|how) (else|more|further|other)
        (can|could|may|shall|should) i (help|assist|do)
        (help|assist) you
        (additional|further|other|more|another) (help|assistance|requests|request|thing|things|\
            needs|need)
        (do|would) you (need|like|want|have) (any|some|more|further)
    """,
    "pending_confirmation": """
        (is|does|will) (that|this|everything|it|all) (ok|okay|right|correct|alright|good|fine|\
            work|sound|look)
        ^ (so|) you (want|would like|are looking|wish)
        ^ so you need
        (confirm|confirming|verify|double check)
        (give me|need|want|your) confirmation
        (correct|right|accurate) $
    """,
    "command": """
        ^ (por favor|please|now|then|ok|) (please|just|) (filter|send|email|forward|show|\
            improve|export|generate|open|save|update|remove|delete|add|append|include|\
            sort|order by|group|download|print|translate|rewrite|rephrase|fix|format|edit|\
            adjust|rename|convert|calculate|compute|cancel|copy|paste|run|execute|redo|simplify|\
            shorten|apply|attach)
        ^ (can|could|would|will) you (please|) (filter|send|email|forward|show|improve|export|\
            generate|open|save|update|remove|delete|add|sort|translate|rewrite|rephrase|fix|\
            format|edit|rename|convert|cancel|simplify|shorten)
    """,
}
