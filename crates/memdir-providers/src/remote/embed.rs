//! Points of texts, from servers that speak as OpenAI does.

use reqwest::Client;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::failure::Failure;
use super::hear::Fault;
use super::provider::{Site, Wire};
use super::{RemoteOptions, wait, web};
use memdir_model::ModelError;
use memdir_model::embed::Embedder;

/// How many texts are sent at a time.
const BATCH: usize = 64;

/// The most numbers of a point.
const MOST_NUMBERS: usize = 8192;

/// An [`Embedder`] on a server.
#[derive(Debug)]
pub struct RemoteEmbedder {
    id: String,
    runtime: Runtime,
    line: Line,
}

/// All that asking needs but what runs it.
#[derive(Debug)]
struct Line {
    options: RemoteOptions,
    site: Site,
    web: Client,
    /// How many numbers a point has, once there was one.
    numbers: Option<usize>,
}

impl RemoteEmbedder {
    /// Prepares to ask; nothing is sent yet. `options.timeout` is for each batch of texts.
    ///
    /// # Errors
    ///
    /// As those of [`super::Remote::open`]; [`ModelError::Rejected`] where the provider speaks otherwise than OpenAI.
    pub fn open(options: RemoteOptions) -> Result<Self, ModelError> {
        let site = options.provider.site(options.address.as_deref(), options.key.as_ref())?;
        if options.provider.wire != Wire::OpenAi {
            let why = format!("points of texts are not asked of `{}`", options.provider.name);
            return Err(ModelError::Rejected { place: site.shown, why });
        }
        let (runtime, web) = (web::runtime(&site)?, web::client(&site)?);
        let id = format!("{}::{} {}", options.provider.name, options.name, site.shown);
        Ok(Self { id, runtime, line: Line { options, site, web, numbers: None } })
    }
}

impl Line {
    async fn batch(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut tried = 1;
        loop {
            let failed = match self.once(texts).await {
                Ok(points) => return Ok(points),
                Err(failed) => failed,
            };
            match wait::before(&failed, tried, self.options.pause).filter(|_| tried < self.options.tries) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(failed.error),
            }
            tried += 1;
        }
    }

    async fn once(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Failure> {
        let url = self.site.at("embeddings").map_err(Failure::last)?;
        let head = web::head(self.options.provider, self.options.key.as_ref());
        let body = json!({"model": self.options.name, "input": texts, "encoding_format": "float"});
        let got = web::post(&self.web, url, head, &body, self.options.timeout).await;
        let points = got.and_then(|got| points(&got, texts.len(), self.numbers).ok_or(Fault::NoInterface));
        let points = points.map_err(|fault| self.options.telling(&self.site).tell(fault))?;
        self.numbers = points.first().map(Vec::len);
        Ok(points)
    }
}

impl Embedder for RemoteEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut points = Vec::with_capacity(texts.len());
        for texts in texts.chunks(BATCH) {
            points.append(&mut self.runtime.block_on(self.line.batch(texts))?);
        }
        Ok(points)
    }
}

/// The points in an answer, by their numbers: as many as there were texts, each as long as the others.
fn points(got: &Value, texts: usize, numbers: Option<usize>) -> Option<Vec<Vec<f32>>> {
    let mut points = vec![Vec::new(); texts];
    for (at, found) in got.get("data")?.as_array()?.iter().enumerate() {
        let at = found.get("index").and_then(Value::as_u64).map_or(Some(at), |index| usize::try_from(index).ok())?;
        let point = found.get("embedding")?.as_array()?.iter().map(number).collect::<Option<Vec<f32>>>()?;
        *points.get_mut(at)? = point;
    }
    let length = numbers.or(points.first().map(Vec::len))?;
    let is_whole = (1..=MOST_NUMBERS).contains(&length) && points.iter().all(|point| point.len() == length);
    is_whole.then_some(points)
}

fn number(value: &Value) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "points need no more than the precision they have")]
    let number = value.as_f64()? as f32;
    Some(number).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_by_their_numbers_and_all_of_them() {
        let of = |data: Value| points(&json!({ "data": data }), 2, None);
        let (one, two) = (json!({"index": 1, "embedding": [0.5, -1]}), json!({"index": 0, "embedding": [0.25, 2]}));
        assert_eq!(of(json!([one, two])), Some(vec![vec![0.25, 2.0], vec![0.5, -1.0]]));
        for wrong in [
            json!([one]),
            json!([one, one]),
            json!([{"embedding": [1]}, {"embedding": [1, 2]}]),
            json!([{"embedding": []}, {"embedding": []}]),
            json!([{"embedding": [1]}, {"embedding": ["x"]}]),
            json!([{"embedding": [1]}, {"embedding": [1e300]}]),
            json!([{"index": 0, "embedding": [1]}, {"index": 7, "embedding": [1]}]),
            json!([{"embedding": [1]}, {"embedding": [1]}, {"embedding": [1]}]),
        ] {
            assert_eq!(of(wrong.clone()), None, "{wrong}");
        }
        assert_eq!(points(&json!({"data": [{"embedding": [1]}]}), 1, Some(2)), None);
    }
}
