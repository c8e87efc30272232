//! The notes around one as a small drawing: it in the middle, those one link away around it, those two links away outside,
//! in the order of the notes that lead to them.
//!
//! Places depend on nothing but the notes, so that the drawing stands still. It says nothing that the list beside it does not, and
//! is left out for those who hear the page.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use maud::{Markup, html};
use memdir_core::path::MemoryPath;
use memdir_engine::Surroundings;

use crate::href;
use crate::text::shortened;

/// The drawing is a square of this many units.
const SIDE: f64 = 400.0;
const NEAR: f64 = 105.0;
const FAR: f64 = 175.0;
/// More names than these would lie on each other.
const MOST_NAMES: usize = 10;
/// So much of a name is written.
const MOST_LETTERS: usize = 14;
/// No more bytes than these are spent on notes, whose addresses may be long.
const MOST_BYTES: usize = 12 * 1024;
/// About as many bytes as a note needs beside its address and its name.
const NODE_BYTES: usize = 130;

pub(super) fn draw(note: &MemoryPath, around: &Surroundings) -> Markup {
    let places = places(note, around);
    let lines = around.pairs.iter().filter_map(|(one, other)| Some((places.get(one)?, places.get(other)?)));
    let has_names = around.near.len() <= MOST_NAMES;
    html! {
        svg .graph viewBox={ "0 0 " (SIDE) " " (SIDE) } aria-hidden="true" focusable="false" {
            @for (one, other) in lines {
                line x1=(units(one.0)) y1=(units(one.1)) x2=(units(other.0)) y2=(units(other.1)) {}
            }
            @for (path, (x, y)) in &places {
                @let is_centre = *path == note;
                @let is_near = around.near.contains(path);
                a href=(href::note(path)) tabindex="-1" class=[is_centre.then_some("centre")] {
                    title { (path.stem()) }
                    circle cx=(units(*x)) cy=(units(*y)) r=(if is_centre { 10 } else if is_near { 8 } else { 5 }) {}
                    @if is_centre || (is_near && has_names) {
                        text x=(units(*x)) y=(units(y - 13.0)) { (shortened(path.stem(), MOST_LETTERS)) }
                    }
                }
            }
        }
    }
}

/// Where each note is drawn.
fn places<'p>(note: &'p MemoryPath, around: &'p Surroundings) -> BTreeMap<&'p MemoryPath, (f64, f64)> {
    let mut bytes = 0;
    let mut fits = |path: &&MemoryPath| {
        bytes += href::note(path).len() + path.stem().len() + NODE_BYTES;
        bytes <= MOST_BYTES
    };
    let near: Vec<&MemoryPath> = around.near.iter().take_while(&mut fits).collect();
    let leads = |far: &MemoryPath| {
        let is_pair = |near: &MemoryPath| {
            around.pairs.contains(&(near.clone(), far.clone())) || around.pairs.contains(&(far.clone(), near.clone()))
        };
        near.iter().position(|near| is_pair(near))
    };
    let mut far: Vec<(usize, &MemoryPath)> =
        around.far.iter().take_while(&mut fits).filter_map(|far| Some((leads(far)?, far))).collect();
    far.sort();
    let mut places = BTreeMap::from([(note, (SIDE / 2.0, SIDE / 2.0))]);
    places.extend(on_ring(NEAR, &near));
    places.extend(on_ring(FAR, &far.into_iter().map(|(_, far)| far).collect::<Vec<_>>()));
    places
}

/// Spreads notes evenly on a ring, from its top on.
fn on_ring<'p>(radius: f64, notes: &[&'p MemoryPath]) -> impl Iterator<Item = (&'p MemoryPath, (f64, f64))> {
    let (mut turn, step) = (-TAU / 4.0, TAU / f64::from(u32::try_from(notes.len().max(1)).unwrap_or(u32::MAX)));
    notes.iter().map(move |note| {
        let place = (SIDE / 2.0 + radius * turn.cos(), SIDE / 2.0 + radius * turn.sin());
        turn += step;
        (*note, place)
    })
}

/// A place without a fraction.
fn units(place: f64) -> String {
    format!("{place:.0}")
}
