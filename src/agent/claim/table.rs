//! How claims are worded. Rows are no logic: tests hold each to its own examples.
//!
//! A pattern sees a sentence as [`super::plain`] makes it: lower case, a blank on each side of every word and mark.

use super::Kind;

/// The wordings of a language, and what speaks against a claim in it.
pub(super) struct Language {
    /// Its name.
    #[cfg_attr(not(test), expect(dead_code, reason = "the name is for who reads a failing test"))]
    pub(super) name: &'static str,
    /// Words anywhere before a claim that make it none: conditions.
    pub(super) before: &'static str,
    /// Words before a claim in the same clause that make it none: denials, offers, reports.
    pub(super) right_before: &'static str,
    /// Words anywhere in the sentence that make it none: times long ago.
    pub(super) anywhere: &'static str,
    pub(super) rows: &'static [Row],
}

/// One wording.
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) pattern: &'static str,
    /// What else speaks against it; empty for nothing.
    pub(super) unless: &'static str,
    /// Sentences that make the claim.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the tests, and stand beside what they show"))]
    pub(super) must_match: &'static [&'static str],
    /// Sentences that do not, and are like one that does.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the tests, and stand beside what they show"))]
    pub(super) must_not: &'static [&'static str],
}

const fn saved(
    pattern: &'static str,
    unless: &'static str,
    must_match: &'static [&'static str],
    must_not: &'static [&'static str],
) -> Row {
    Row { kind: Kind::Saved, pattern, unless, must_match, must_not }
}

const fn deleted(
    pattern: &'static str,
    unless: &'static str,
    must_match: &'static [&'static str],
    must_not: &'static [&'static str],
) -> Row {
    Row { kind: Kind::Deleted, pattern, unless, must_match, must_not }
}

/// What a reply may begin with before it comes to the point.
macro_rules! lead {
    ($rest:literal) => {
        concat!(
            r"^ (?:(?:ok|okay|done|great|sure|alright|thanks|thank you|perfect|got it|all right|certainly|of course|all set|yes|no problem|understood|absolutely|so|also|now|ja|klar|alles klar|gut|gerne|danke|sí|si|claro|listo|vale|hecho|gracias|oui|d'accord|parfait|merci|bien sûr|va bene|fatto|certo|perfetto|grazie|sim|certo|feito|pronto|tudo bem|obrigado|tamam|tabii|elbette|peki|goed|prima|bedankt)(?: [,;:.!–—-])* )*",
            $rest
        )
    };
}

/// Words between `have` and what was done.
macro_rules! have {
    ($verbs:literal) => {
        concat!(
            r" (?:i've|i have|we've|we have)(?: (?:just|now|also|successfully|gone ahead and|then|since|both|carefully|duly))* (?:",
            $verbs,
            ") "
        )
    };
}

/// What is made for the person in the talk itself, and so not in the memory.
const MADE_HERE: &str = " (?:draft|poem|story|summary|plan|table|example|examples|code|function|script|email|letter|text|answer|response|reply|above|below|version|translation|paragraph|sentence|recipe|itinerary|numbers|mind|joke|question|questions) ";

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "English",
        before: "if|unless|once|when|whenever|until|till|as soon as|suppose|imagine",
        right_before: "not|never|neither|nothing|cannot|can't|couldn't|don't|didn't|doesn't|wasn't|won't|hardly|doubt|whether|should|could|would|might|may|wish|want|what|which|whatever|everything|anything|something|things|facts|details|information|think|thought|believe|say|says|said|state|states|mentions|mentioned|reads|shows|told|asked|wrote|writes|claims|according|after|before|because|since|like|as|where",
        anywhere: "ago|yesterday|earlier|previously|already|before|last week|last month|last year|last time|last night|back then|in (?:19|20)[0-9][0-9]|in (?:january|february|march|april|may|june|july|august|september|october|november|december)|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
        rows: &[
            saved(
                have!(
                    "saved|stored|recorded|updated|corrected|remembered|added|created|changed|written|logged|replaced|renamed|made a note|made a new note|taken note|memorized|filed|registered|amended|jotted"
                ),
                MADE_HERE,
                &[
                    "I've saved your new address.",
                    "I have now updated user.md with that.",
                    "Sure! I’ve gone ahead and added it to your notes, anything else?",
                    "No problem, I've stored that.",
                    "We have updated the note.",
                    "**I've saved** it (as “tea”).",
                ],
                &[
                    "You said you saved money.",
                    "I haven't saved it.",
                    "I have not updated the note.",
                    "Have I saved it?",
                    "If you like, I have saved a place for it.",
                    "The note says: I've saved 200 euros.",
                    "The note says \"I have updated my address\".",
                    "Here is what I've stored about you:",
                    "I have already added it, in May.",
                    "I've changed my mind.",
                    "I've added an example below.",
                    "I don't think I've saved that.",
                    "You told me that I have saved it.",
                    "> I've saved your address.",
                    "I've saved it yesterday.",
                ],
            ),
            saved(
                have!("noted"),
                " noted (?:a|an|some|several|two|three|one|no) ",
                &["I've noted that you like tea.", "I have noted your birthday."],
                &["I have noted a contradiction between the two.", "I've noted it earlier."],
            ),
            saved(
                r" i(?: just| also| then| now| successfully)* (?:saved|stored|noted|recorded|added|updated|logged|registered|corrected|created|made a note of) (?:it|this|them|both|down|your|his|her|their|the|a note|a new note|a fact|an entry) ",
                concat!(
                    " that i |",
                    " (?:draft|poem|story|summary|plan|table|example|examples|code|function|numbers|two|text|answer|above|below) "
                ),
                &[
                    "I saved it to your notes.",
                    "I just updated your address.",
                    "Done: I added the birthday to the note.",
                    "I made a note of it.",
                ],
                &[
                    "I can save it.",
                    "Shall I save it?",
                    "I added the two numbers.",
                    "I saved you a seat.",
                    "The address that I saved the first time is another one.",
                    "I updated the note last week.",
                    "You wrote: I saved it.",
                ],
            ),
            saved(
                r" (?:i'll|i will|i shall)(?: (?:now|definitely|certainly|always|be sure to|make sure to))* remember (?:that|this|it|your|you|his|her|their|for|from|[,.!]) ",
                " remember .* (?:if|once|when|unless|as soon as|as long as) ",
                &["I'll remember that.", "Got it, I will remember your birthday!", "I'll definitely remember, thanks."],
                &[
                    "I'll remember that if you like.",
                    "If you say yes, I'll remember it.",
                    "Will I remember that?",
                    "I'll remember to be short.",
                    "I won't remember that.",
                    "Do you want me to say I'll remember that?",
                ],
            ),
            saved(
                lead!(
                    r"(?:it|this|that|everything|both|they|your (?:[^ ,;:.!?][^ ]* ){0,3}?[^ ,;:.!?][^ ]*|[^ ,;:.!?][^ ]*'s (?:[^ ,;:.!?][^ ]* ){0,2}?[^ ,;:.!?][^ ]*|(?:the|a) (?:[^ ,;:.!?][^ ]* ){0,2}?(?:note|notes|memory|entry|fact|facts|information|info|detail|details|change|changes|address|number|birthday|preference|preferences|reminder|contact)) (?:has|have)(?: now| just)* been(?: successfully| now)* (?:saved|stored|noted|recorded|added|remembered|updated|corrected|logged|created) "
                ),
                " by (?:the|your|a|an|my|his|her) ",
                &[
                    "It has been saved.",
                    "Your address has been updated.",
                    "Great! Ada's new phone number has now been added to her note.",
                    "The note has been created.",
                ],
                &[
                    "It has not been saved.",
                    "Nothing has been saved.",
                    "The law has been updated in May.",
                    "Your account has been updated by the bank.",
                    "Has it been saved?",
                    "It hasn't been saved.",
                    "According to the note, your address has been updated.",
                ],
            ),
            saved(
                lead!(
                    r"(?:it|this|that|everything|your (?:[^ ,;:.!?][^ ]* )?[^ ,;:.!?][^ ]*|the (?:note|entry|fact|change)) (?:was|were)(?: successfully)? (?:saved|stored|noted|recorded|added|updated)(?: successfully)?(?: (?:in|to) (?:your|the|my) (?:memory|note|notes|profile))? [.!,] "
                ),
                "",
                &["It was saved.", "Your address was updated successfully.", "The note was added to your memory."],
                &[
                    "It was not saved.",
                    "The note says it was updated in May.",
                    "It was updated by Bob.",
                    "Was it saved?",
                ],
            ),
            saved(
                lead!(
                    r"(?:successfully )?(?:saved|stored|noted|recorded|updated|remembered|added)(?: down)?(?: (?:that|it|this|your|the|to|in my|in your|and)|(?: [.!,;:–—-])) "
                ),
                MADE_HERE,
                &[
                    "Saved!",
                    "Done, noted.",
                    "Updated your address.",
                    "Okay. Added to your notes.",
                    "Noted: you like tea.",
                ],
                &[
                    "Saved games are in the folder.",
                    "Updated?",
                    "Added sugar is bad for you.",
                    "Stored energy is released.",
                ],
            ),
            saved(
                lead!(
                    r"(?:that|it|this|everything|they)(?:'s|'re| is| are)(?: all| safely| now)* (?:saved|noted|recorded|stored|updated)(?: (?:in|to) (?:your|my) (?:memory|notes))? [.!,] "
                ),
                "",
                &["That's saved.", "Okay, it's noted!", "It is now stored in your memory."],
                &["That's not saved.", "Is it saved?", "It is stored in the garage.", "It's already noted."],
            ),
            saved(
                r" (?:is|are) now (?:saved|stored|recorded|noted|in (?:your|my) (?:memory|notes)) ",
                "",
                &["Your birthday is now saved.", "Both are now in your notes."],
                &["Your birthday is not saved now.", "Is your birthday now saved?", "If it is now saved, fine."],
            ),
            saved(
                r" consider it (?:saved|noted|remembered|recorded|stored|updated) ",
                "",
                &["Consider it noted."],
                &["I would consider it noted.", "Consider it again."],
            ),
            saved(
                lead!(
                    r"(?:memory|note|notes|entry|profile|fact|contact)(?: successfully)? (?:updated|saved|created|added|stored) [.!,:] "
                ),
                "",
                &["Memory updated.", "Done! Note created: Ada."],
                &["Memory updated in May.", "Notes created by Bob are in his folder."],
            ),
            deleted(
                have!("deleted|removed|erased|forgotten|cleared|dropped"),
                concat!(
                    " forgotten (?:to|how|what|where|about|if|whether|my|the) |",
                    " (?:draft|poem|table|example|code|text|answer|above|below) "
                ),
                &["I've deleted the note.", "I have now forgotten that.", "Okay, I've removed your phone number."],
                &[
                    "I've forgotten to ask.",
                    "I haven't deleted it.",
                    "If I've deleted it, tell me.",
                    "I've removed the example below.",
                ],
            ),
            deleted(
                r" i(?: just| also| then| now| successfully)* (?:deleted|removed|erased|cleared) (?:it|this|that|them|both|your|his|her|their|the note|the entry|the fact|the line|everything) ",
                "",
                &["I deleted it.", "I just removed your phone number."],
                &["I can delete it.", "Shall I say I deleted it?", "I deleted it last week."],
            ),
            deleted(
                lead!(
                    r"(?:(?:it|this|that|everything|your (?:[^ ,;:.!?][^ ]* ){0,2}?[^ ,;:.!?][^ ]*|the (?:note|entry|fact|line)) (?:has been|have been|is now|are now|was)|that's|it's)?(?: now)?(?: successfully)? ?(?:deleted|removed|erased|forgotten)(?: from (?:your|my|the) (?:memory|notes?|profile))? [.!,] "
                ),
                "",
                &[
                    "Deleted.",
                    "Done: the note has been deleted.",
                    "It is now forgotten!",
                    "That's removed from your memory.",
                ],
                &[
                    "It was not deleted.",
                    "Deleted files are kept for a week.",
                    "The note says it was removed.",
                    "Was it deleted?",
                ],
            ),
        ],
    },
    Language {
        name: "German",
        before: "wenn|falls|sobald|ob|bevor|laut",
        right_before: "nicht|nie|was|alles was|sagst|sagtest|sagte|steht|schreibt|meinst|glaube|möchtest",
        anywhere: "nicht|nie|nichts|kein|keine|keinen|keines|noch nie|gestern|früher|bereits|schon|letzte woche|letztes jahr|damals|vor (?:einem|einer|zwei|drei|langem|kurzem)|im (?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)",
        rows: &[
            saved(
                r" (?:ich habe|habe ich|ich hab|hab ich|wir haben)(?: [^ ,;:.!?][^ ]*){0,8}? (?:gespeichert|abgespeichert|notiert|vermerkt|eingetragen|aktualisiert|hinzugefügt|festgehalten|aufgenommen|gemerkt|aufgeschrieben|ergänzt|korrigiert|angelegt|geändert) ",
                " (?:gedicht|beispiel|tabelle|text|entwurf|meinung|zahlen) ",
                &[
                    "Ich habe das gespeichert.",
                    "Gern, das habe ich mir gemerkt.",
                    "Ich habe deine neue Adresse in user.md eingetragen.",
                ],
                &[
                    "Ich habe das nicht gespeichert.",
                    "Habe ich das gespeichert?",
                    "Wenn du willst, habe ich es gleich gespeichert.",
                    "Du sagtest, du hast Geld gespart.",
                    "Ich habe dir ein Beispiel hinzugefügt.",
                    "Ich habe es im Mai geändert.",
                ],
            ),
            saved(
                r" (?:das merke ich mir|ich merke mir (?:das|dies|es)|ich merk mir (?:das|dies|es)|das merk ich mir|ich werde mir (?:das|dies|es) merken|das werde ich mir merken) ",
                " merken? .* (?:wenn|falls|sobald) ",
                &["Das merke ich mir.", "Okay, ich werde mir das merken!"],
                &[
                    "Soll ich sagen: das merke ich mir?",
                    "Wenn du willst, merke ich mir das.",
                    "Das merke ich mir, wenn du willst.",
                ],
            ),
            saved(
                lead!(
                    r"(?:(?:das|es|dies|alles|deine? [^ ,;:.!?][^ ]*(?: [^ ,;:.!?][^ ]*)?|ihre? [^ ,;:.!?][^ ]*(?: [^ ,;:.!?][^ ]*)?|die notiz) (?:ist|sind|wurde|wurden)(?: (?:jetzt|nun|soeben|erfolgreich))* )?(?:gespeichert|notiert|vermerkt|aktualisiert|eingetragen|gemerkt) [.!,:] "
                ),
                "",
                &[
                    "Gespeichert!",
                    "Alles klar, notiert.",
                    "Deine Adresse wurde aktualisiert.",
                    "Das ist jetzt gespeichert.",
                ],
                &["Das wurde nicht gespeichert.", "Ist das gespeichert?", "In der Notiz steht, es wurde aktualisiert."],
            ),
            deleted(
                r" (?:ich habe|habe ich|ich hab|hab ich)(?: [^ ,;:.!?][^ ]*){0,8}? (?:gelöscht|entfernt|gestrichen) ",
                "",
                &["Ich habe die Notiz gelöscht.", "Das habe ich entfernt."],
                &["Ich habe nichts gelöscht.", "Habe ich das gelöscht?", "Ich habe es vergessen."],
            ),
            deleted(
                lead!(r"(?:(?:das|es|alles|die notiz) (?:ist|wurde)(?: (?:jetzt|nun))* )?(?:gelöscht|entfernt) [.!,] "),
                "",
                &["Gelöscht.", "Die Notiz wurde gelöscht."],
                &["Die Notiz wurde nicht gelöscht.", "Wurde sie gelöscht?"],
            ),
        ],
    },
    Language {
        name: "Spanish",
        before: "si|cuando|según|aunque|antes de que|una vez que",
        right_before: "no|nunca|lo que|dijiste|dice|dices|creo que|quieres que|nada|todo lo que",
        anywhere: "no|nunca|ayer|antes|ya|hace (?:un|una|dos|tres|mucho|años)|la semana pasada|el año pasado|en (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)",
        rows: &[
            saved(
                r" (?:he|hemos)(?: (?:ahora|también|correctamente))* (?:guardado|anotado|registrado|almacenado|actualizado|añadido|agregado|apuntado|cambiado|corregido|memorizado|tomado nota) ",
                " (?:opinión|ejemplo|poema|tabla|idea|texto|resumen) ",
                &["He guardado tu dirección.", "Claro, lo he anotado.", "Hecho: he actualizado la nota."],
                &[
                    "No he guardado nada.",
                    "Si quieres, lo he guardado.",
                    "¿He guardado eso?",
                    "He cambiado de opinión.",
                    "He añadido un ejemplo.",
                ],
            ),
            saved(
                r" (?:guardé|anoté|actualicé|registré|añadí|agregué|apunté) ",
                " (?:ejemplo|poema|tabla|texto|resumen) ",
                &["Guardé tu cumpleaños.", "Listo, lo anoté."],
                &["No lo guardé.", "¿Lo anoté?", "Lo guardé ayer."],
            ),
            saved(
                r" (?:lo recordaré|recordaré (?:que|eso|esto|tu|tus)|me acordaré de (?:eso|esto|tu|ello)) ",
                "",
                &["Lo recordaré.", "De acuerdo, recordaré que te gusta el té."],
                &["No lo recordaré.", "Si quieres, lo recordaré.", "¿Lo recordaré?"],
            ),
            saved(
                lead!(
                    r"(?:(?:lo|la|eso|esto|tu [^ ,;:.!?][^ ]*) )?(?:(?:se ha|ha sido|fue|queda|está|ha quedado) )?(?:guardad|anotad|registrad|actualizad|apuntad)[oa] [.!,:] "
                ),
                "",
                &["Guardado.", "¡Anotado!", "Listo, eso queda anotado.", "Tu dirección ha sido actualizada."],
                &["No guardado.", "¿Guardado?"],
            ),
            deleted(
                r" (?:he (?:borrado|eliminado|quitado)|borré|eliminé) ",
                "",
                &["He borrado la nota.", "Eliminé tu teléfono."],
                &["No he borrado nada.", "¿He borrado eso?"],
            ),
        ],
    },
    Language {
        name: "French",
        before: "si|quand|lorsque|selon|d'après|une fois que|dès que",
        right_before: "ne|jamais|ce que|dit|dis|avez dit|as dit|crois que|voulez-vous que|veux-tu que|rien",
        anywhere: "pas|jamais|hier|déjà|avant|auparavant|il y a|la semaine dernière|l'année dernière|en (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)",
        rows: &[
            saved(
                r" (?:j'ai|je l'ai|je les ai|je vous l'ai|je te l'ai|nous avons)(?: (?:bien|aussi|maintenant|également))* (?:(?:enregistré|noté|sauvegardé|ajouté|mémorisé|consigné|modifié|corrigé|retenu|stocké)e?s?|mise?s? à jour|pris note|pris en note) ",
                " (?:exemple|poème|tableau|texte|résumé|brouillon|une contradiction) ",
                &["J'ai enregistré votre adresse.", "D’accord, je l'ai bien noté.", "J’ai mis à jour la note."],
                &[
                    "Je n'ai pas enregistré cela.",
                    "Si tu veux, je l'ai noté.",
                    "Ai-je noté cela ?",
                    "J'ai ajouté un exemple.",
                    "J'ai noté cela hier.",
                ],
            ),
            saved(
                r" (?:je m'en souviendrai|je m'en rappellerai|je me souviendrai (?:que|de)|je le retiens|je retiens (?:que|ça|cela)) ",
                "",
                &["Je m'en souviendrai.", "Parfait, je me souviendrai que tu aimes le thé."],
                &["Je ne m'en souviendrai pas.", "Si tu veux, je m'en souviendrai."],
            ),
            saved(
                lead!(
                    r"(?:(?:c'est|(?:votre|ton|ta|l') ?[^ ,;:.!?][^ ]* (?:a été|est))(?: bien| maintenant)* )?(?:enregistré|noté|sauvegardé|mémorisé|mis à jour)e? [.!,:] "
                ),
                "",
                &[
                    "C'est noté !",
                    "Enregistré.",
                    "D'accord, c'est bien enregistré.",
                    "Votre adresse a été enregistrée.",
                ],
                &["Ce n'est pas noté.", "C'est noté ?"],
            ),
            deleted(
                r" (?:j'ai|je l'ai|je les ai)(?: (?:bien|aussi|maintenant))* (?:supprimé|effacé|retiré)e?s? ",
                "",
                &["J'ai supprimé la note.", "Je l'ai effacée."],
                &["Je n'ai pas supprimé la note.", "L'ai-je supprimée ?", "Je l'ai effacée hier."],
            ),
        ],
    },
    Language {
        name: "Italian",
        before: "se|quando|secondo|appena|prima che",
        right_before: "non|mai|quello che|ciò che|hai detto|dice|dici|credo che|vuoi che|niente",
        anywhere: "non|mai|ieri|già|prima|la settimana scorsa|l'anno scorso|fa|a (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)",
        rows: &[
            saved(
                r" (?:ho|l'ho|li ho|le ho|abbiamo)(?: (?:ora|anche|appena))* (?:(?:salvat|registrat|annotat|memorizzat|aggiunt|aggiornat|segnat|modificat|corrett)[oaie]|preso nota) ",
                " (?:esempio|poesia|tabella|testo|riassunto|idea) ",
                &["Ho salvato il tuo indirizzo.", "Certo, l'ho annotato.", "Ho aggiornato la nota."],
                &["Non ho salvato niente.", "Se vuoi, l'ho salvato.", "L'ho salvato?", "Ho aggiunto un esempio."],
            ),
            saved(
                r" (?:me lo ricorderò|lo ricorderò|mi ricorderò (?:che|di)|ricorderò (?:che|questo|il tuo|la tua)|lo terrò a mente) ",
                "",
                &["Me lo ricorderò.", "Va bene, ricorderò che ti piace il tè."],
                &["Non lo ricorderò.", "Se vuoi, lo ricorderò."],
            ),
            saved(
                lead!(
                    r"(?:(?:è stat[oa]|è|il tuo [^ ,;:.!?][^ ]* è stato|la tua [^ ,;:.!?][^ ]* è stata) )?(?:salvat|annotat|registrat|aggiornat|segnat)[oa] [.!,:] "
                ),
                "",
                &["Salvato!", "Fatto, annotato.", "La tua email è stata salvata."],
                &["Non è stato salvato.", "Salvato?"],
            ),
            deleted(
                r" (?:ho|l'ho|li ho|le ho) (?:cancellat|eliminat|rimoss)[oaie] ",
                "",
                &["Ho cancellato la nota.", "L'ho eliminata."],
                &["Non ho cancellato la nota.", "L'ho eliminata ieri."],
            ),
        ],
    },
    Language {
        name: "Portuguese",
        before: "se|quando|segundo|conforme|caso|assim que",
        right_before: "não|nunca|o que|disse|diz|acho que|quer que|nada",
        anywhere: "não|nunca|ontem|já|antes|há (?:um|uma|dois|duas|muito|anos)|na semana passada|no ano passado|em (?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)",
        rows: &[
            saved(
                r" (?:salvei|guardei|anotei|registrei|registei|atualizei|adicionei|gravei|armazenei|memorizei) ",
                " (?:exemplo|poema|tabela|texto|resumo) ",
                &["Salvei o seu endereço.", "Certo, anotei isso.", "Atualizei a nota."],
                &[
                    "Não salvei nada.",
                    "Se quiser, guardei isso.",
                    "Anotei isso?",
                    "Adicionei um exemplo.",
                    "Anotei ontem.",
                ],
            ),
            saved(
                r" (?:vou (?:me )?lembrar (?:disso|que|do|da|de)|lembrarei (?:disso|que|do|da)|vou me lembrar|me lembrarei) ",
                "",
                &["Vou me lembrar disso.", "Lembrarei que você gosta de chá."],
                &["Não vou me lembrar disso.", "Se quiser, vou lembrar disso."],
            ),
            saved(
                lead!(
                    r"(?:(?:isso )?(?:foi|está|ficou) |(?:o seu|a sua|seu|sua) [^ ,;:.!?][^ ]* foi )?(?:salv|anotad|guardad|registrad|atualizad)[oa] [.!,:] "
                ),
                "",
                &["Anotado!", "Pronto, salvo.", "Seu endereço foi atualizado."],
                &["Não foi salvo.", "Salvo?"],
            ),
            deleted(
                r" (?:apaguei|excluí|removi|eliminei|deletei) ",
                "",
                &["Apaguei a nota.", "Pronto, removi o telefone."],
                &["Não apaguei nada.", "Apaguei a nota?"],
            ),
        ],
    },
    Language {
        name: "Turkish",
        before: "eğer|isterseniz|istersen|göre",
        right_before: "dediniz|dedin|hiçbir şey",
        anywhere: "dün|daha önce|önceden|zaten|geçen (?:hafta|yıl|ay)|değil",
        rows: &[
            saved(
                r" (?:kaydettim|not aldım|not ettim|hafızama aldım|hafızaya kaydettim|güncelledim|notlarına ekledim|notlarınıza ekledim|nota ekledim|sakladım) ",
                " (?:şiir|örnek|tablo|metin) ",
                &["Adresinizi kaydettim.", "Tamam, bunu not aldım.", "Notu güncelledim."],
                &["Kaydetmedim.", "Kaydettim mi?", "Dün kaydettim.", "İsterseniz kaydedebilirim."],
            ),
            saved(
                r" (?:(?:bunu|unutmadan bunu|onu) hatırlayacağım|bunu unutmayacağım|aklımda tutacağım) ",
                "",
                &["Bunu hatırlayacağım.", "Tamam, bunu unutmayacağım!"],
                &["Bunu hatırlamayacağım.", "İstersen bunu hatırlayacağım."],
            ),
            saved(
                r" (?:kaydedildi|güncellendi|not edildi|not alındı|hafızaya alındı) [.!,] ",
                "",
                &["Kaydedildi.", "Adresiniz güncellendi!"],
                &["Kaydedilmedi.", "Kaydedildi mi?", "Dün güncellendi."],
            ),
            deleted(
                r" (?:notu sildim|bunu sildim|onu sildim|numaranızı sildim|silindi|notlarından sildim|notlarınızdan sildim) ",
                "",
                &["Notu sildim.", "Not silindi."],
                &["Notu silmedim.", "Notu sildim mi?"],
            ),
        ],
    },
    Language {
        name: "Dutch",
        before: "als|wanneer|zodra|indien|volgens|of",
        right_before: "niet|nooit|wat|zei|zegt|staat|denk",
        anywhere: "niet|nooit|niets|geen|gisteren|eerder|al|vorige week|vorig jaar|geleden|in (?:januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december)",
        rows: &[
            saved(
                r" (?:ik heb|heb ik|we hebben)(?: [^ ,;:.!?][^ ]*){0,8}? (?:opgeslagen|genoteerd|bewaard|bijgewerkt|toegevoegd|onthouden|vastgelegd|gewijzigd|gecorrigeerd|opgeschreven) ",
                " (?:voorbeeld|gedicht|tabel|tekst|samenvatting) ",
                &["Ik heb je adres opgeslagen.", "Goed, dat heb ik genoteerd.", "Ik heb de notitie bijgewerkt."],
                &[
                    "Ik heb het niet opgeslagen.",
                    "Heb ik dat opgeslagen?",
                    "Als je wilt, heb ik het zo opgeslagen.",
                    "Ik heb een voorbeeld toegevoegd.",
                ],
            ),
            saved(
                r" (?:ik (?:zal|ga) (?:dat|dit|het) onthouden|dat zal ik onthouden|ik onthoud (?:dat|dit|het)|dat onthoud ik) ",
                " onthoud(?:en)? .* (?:als|zodra|indien) ",
                &["Ik zal dat onthouden.", "Prima, dat onthoud ik!"],
                &["Ik zal dat niet onthouden.", "Als je wilt, zal ik dat onthouden.", "Dat onthoud ik, als je wilt."],
            ),
            saved(
                lead!(
                    r"(?:(?:het|dat|dit|alles|je [^ ,;:.!?][^ ]*|uw [^ ,;:.!?][^ ]*|de notitie) (?:is|zijn|werd)(?: nu)? )?(?:opgeslagen|genoteerd|bijgewerkt) [.!,:] "
                ),
                "",
                &["Opgeslagen!", "Prima, genoteerd.", "Je adres is bijgewerkt."],
                &["Het is niet opgeslagen.", "Is het opgeslagen?"],
            ),
            deleted(
                r" (?:ik heb|heb ik)(?: [^ ,;:.!?][^ ]*){0,8}? (?:verwijderd|gewist|geschrapt) ",
                "",
                &["Ik heb de notitie verwijderd.", "Dat heb ik gewist."],
                &["Ik heb niets verwijderd.", "Heb ik dat verwijderd?"],
            ),
        ],
    },
];
