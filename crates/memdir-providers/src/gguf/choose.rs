//! The choice of the next token: as freely as asked, and never one that the grammar refuses.
//!
//! The grammar is asked about the token that would be chosen without it, which it nearly always takes. Only where it does not
//! is it asked about more: first about the likeliest ones, then about all there are, a hundred times as many.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;
use llama_cpp_2::vocab::LlamaVocab;

/// How many tokens a free choice is among at most.
const TOP_TOKENS: usize = 40;
/// The likeliest tokens that it is among have this probability together.
const TOP_SHARE: f32 = 0.95;
/// How many of the likeliest tokens the grammar is asked about before all.
const LIKELY: usize = 256;

/// Chooses the tokens of one answer.
pub(super) struct Chooser<'m> {
    vocab: LlamaVocab<'m>,
    /// Nothing takes the likeliest.
    free: Option<LlamaSampler>,
    grammar: Option<LlamaSampler>,
    /// A token that ends an answer.
    end: Option<LlamaToken>,
}

/// Why no token can be chosen.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum ChoiceError {
    /// The grammar cannot be read.
    #[error("the grammar cannot be read")]
    NoGrammar,
    /// No token goes on with what the grammar wants.
    #[error("no token of the model goes on with what the grammar wants")]
    NoToken,
}

impl<'m> Chooser<'m> {
    /// Prepares the choice of an answer. `seed` draws the same tokens again, on the same machine.
    ///
    /// # Errors
    ///
    /// [`ChoiceError::NoGrammar`].
    pub(super) fn new(
        model: &'m LlamaModel,
        grammar: Option<&str>,
        temperature: f32,
        seed: u32,
    ) -> Result<Self, ChoiceError> {
        let compile = |gbnf| LlamaSampler::grammar(model, gbnf, "root").map_err(|_| ChoiceError::NoGrammar);
        let grammar = grammar.map(compile).transpose()?;
        let vocab = model.vocab();
        let end = [vocab.eot(), vocab.eos()].into_iter().find(|token| token.0 >= 0 && vocab.is_eog(*token));
        let free = (temperature > 0.0).then(|| {
            let top = i32::try_from(TOP_TOKENS).unwrap_or(i32::MAX);
            let steps = [
                LlamaSampler::top_k(top),
                LlamaSampler::top_p(TOP_SHARE, 1),
                LlamaSampler::temp(temperature),
                LlamaSampler::dist(seed),
            ];
            LlamaSampler::chain(steps, true)
        });
        Ok(Self { vocab, free, grammar, end })
    }

    /// Chooses the token after what the context has read.
    ///
    /// # Errors
    ///
    /// [`ChoiceError::NoToken`].
    pub(super) fn next(&mut self, context: &LlamaContext<'_>) -> Result<LlamaToken, ChoiceError> {
        let mut all = context.token_data_array_ith(-1);
        let token = match &mut self.free {
            None => likeliest(&all.data),
            Some(free) => {
                let mut free_choice = all.clone();
                free_choice.apply_sampler(free);
                free_choice.selected_token()
            }
        };
        let token = token.ok_or(ChoiceError::NoToken)?;
        let Some(grammar) = &mut self.grammar else { return Ok(token) };
        let token = if allowed(&self.vocab, grammar, vec![LlamaTokenData::new(token, 1.0, 0.0)]).is_empty() {
            second(&self.vocab, grammar, self.free.as_mut(), &mut all)?
        } else {
            token
        };
        if !self.vocab.is_eog(token) {
            grammar.try_accept(token).map_err(|_| ChoiceError::NoToken)?;
        }
        Ok(token)
    }

    /// Whether the grammar takes nothing more.
    pub(super) fn is_complete(&mut self, context: &LlamaContext<'_>) -> bool {
        let (Some(grammar), Some(end)) = (&mut self.grammar, self.end) else { return false };
        if allowed(&self.vocab, grammar, vec![LlamaTokenData::new(end, 1.0, 0.0)]).is_empty() {
            return false;
        }
        let rest = allowed(&self.vocab, grammar, context.token_data_array_ith(-1).data);
        rest.iter().all(|token| self.vocab.is_eog(token.id()))
    }
}

/// The choice among what the grammar takes.
fn second(
    vocab: &LlamaVocab<'_>,
    grammar: &mut LlamaSampler,
    free: Option<&mut LlamaSampler>,
    all: &mut LlamaTokenDataArray,
) -> Result<LlamaToken, ChoiceError> {
    // As many as a free choice looks at: what is not among the likeliest could not have been chosen.
    let wanted = if free.is_some() { TOP_TOKENS } else { 1 };
    let more = all.data.len() > LIKELY;
    if more {
        all.data.select_nth_unstable_by(LIKELY, |one, other| other.logit().total_cmp(&one.logit()));
    }
    let likely = all.data.get(..LIKELY).unwrap_or(&all.data).to_vec();
    let mut taken = allowed(vocab, grammar, likely);
    if more && taken.len() < wanted {
        taken = allowed(vocab, grammar, std::mem::take(&mut all.data));
    }
    let token = match free {
        None => likeliest(&taken),
        Some(_) if taken.is_empty() => None,
        Some(free) => {
            let mut taken = LlamaTokenDataArray::new(taken, false);
            taken.apply_sampler(free);
            taken.selected_token()
        }
    };
    token.ok_or(ChoiceError::NoToken)
}

/// Those of the tokens that the grammar takes now.
fn allowed(vocab: &LlamaVocab<'_>, grammar: &mut LlamaSampler, tokens: Vec<LlamaTokenData>) -> Vec<LlamaTokenData> {
    let mut tokens = LlamaTokenDataArray::new(tokens, false);
    tokens.apply_sampler(grammar);
    // A grammar sees the names of marks as text; a mark that is written is none.
    let is_text = |token: LlamaToken| vocab.is_eog(token) || !vocab.is_control(token);
    tokens.data.retain(|token| token.logit() > f32::NEG_INFINITY && is_text(token.id()));
    tokens.data
}

/// How likely a token is after what the context has read, whatever a grammar says, in thousandths.
pub(super) fn chance(context: &LlamaContext<'_>, token: LlamaToken) -> u16 {
    let logits = context.get_logits_ith(-1);
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    let own = usize::try_from(token.0).ok().and_then(|at| logits.get(at)).map_or(0.0, |logit| (logit - most).exp());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1,000")]
    let thousandths = (own / sum * 1_000.0) as u16;
    thousandths
}

fn likeliest(tokens: &[LlamaTokenData]) -> Option<LlamaToken> {
    tokens.iter().max_by(|one, other| one.logit().total_cmp(&other.logit())).map(LlamaTokenData::id)
}
