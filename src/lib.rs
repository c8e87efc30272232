//! A long-term memory for language models: a folder of plain Markdown notes, and safe, undoable actions on it.
//!
//! A model writes actions as text. memdir reads them, decides whether each may happen, makes them happen all together or not at all,
//! and answers in words that the model can act on. No text that a model wrote is ever run as code.
//!
//! ```
//! use memdir::Memory;
//!
//! let folder = tempfile::tempdir()?;
//! let memory = Memory::options().without_index().open(&folder)?;
//! let turn = r##"<actions>[{"action": "create_file", "path": "user.md", "content": "# Ada\n\n- city: Porto\n"}]</actions>"##;
//! let answer = memory.run(turn);
//! println!("{}", answer.text); // goes back to the model
//!
//! let found = memory.search("Where do I live?")?;
//! assert_eq!(found.hits[0].path.as_str(), "user.md");
//! memory.undo()?;
//! assert!(memory.read("user.md").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Memory`] is all that most programs need. [`action`] has the actions as types, and [`report`] what became of them.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `python` | reading `<python>` blocks, as the model mem-agent writes them |
//! | `cli` (default) | the program `memdir`, and `python`; nothing else for a library |
//! | `gguf` | an engine for model files in the program; its build needs cmake, a C++ compiler and libclang |

pub use memdir_core::{action, path, report, time};
pub use memdir_engine::ChangeError;
pub use memdir_policy::{GlobError, Mode, Rule, RuleError, Rules, Verdict};

mod memory;

#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct LibraryPage;

pub use memory::{Answer, Change, Memory, OpenOptions, Proposal};
