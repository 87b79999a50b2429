// Package codec has the building blocks of the trace format (docs/format.md): how numbers and lists
// of numbers become bytes, and bytes become blocks.
//
// It encodes and decodes numbers, strings, lists, and grammars of numbers. What they mean
// (signatures, ranks, times) is defined in package trace: a block's Kind is a number here. From the
// inside out:
//
//   - Decoder reads varints and strings; Budget bounds the memory that a reader may take;
//   - a sequence of integers is written as runs, progressions and literals, or as a grammar where
//     it has a structure (AppendSequence, Decoder.Sequence); a sequence that keeps growing is cut
//     into chunks (Sequence, Chunk) and is read value by value (ValueStream);
//   - Numbers, Ragged and the dictionaries store columns in memory and share what is equal;
//   - SectionWriter and NewSectionDecoder write and read columns with a table of strings;
//   - a block is packed content with a checksum (AppendBlock, OpenBlock): stored as it is, by zstd,
//     or by the mixing codec for small ones; an Index lists the blocks of a file.
//
// Invariants:
//
//   - equal input gives equal bytes;
//   - a decoder takes memory from its budget before it allocates;
//   - damaged input gives an error, never a panic;
//   - a Decoder keeps its first error, and everything that it reads after it is zero.
//
// It imports trace/grammar and nothing else of this module: a sequence may be a grammar, and a
// grammar is written as sequences, so the encoding of both is here. Sequences as grammars include
// nested regular rank lists (ScalaTrace II: Wu and Mueller, ICS 2013, §2.2). Rules of a whole trace
// that differ only in exponents share their symbols (§3.2 to 3.4). The mixing codec is after
// Mahoney (Florida Tech. CS-2005-16).
package codec
