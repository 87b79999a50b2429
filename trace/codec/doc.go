// Package codec has the forms that the trace format is made of (docs/format.md): what bytes become numbers and lists of
// them, and how these become blocks.
//
// In go numbers, strings, lists and grammars of numbers, out come bytes, and the other way around. What they are about
// (signatures, ranks, times) is the matter of package trace: a block's Kind is a number here. From the inside out:
//
//   - Decoder reads varints and strings; Budget bounds the memory that a reader may take;
//   - a sequence of integers is written as runs, progressions and literals, or as a grammar where it has a structure
//     (AppendSequence, Decoder.Sequence); one that grows for long is cut into chunks (Sequence, Chunk), and is read value by
//     value (ValueStream);
//   - Numbers, Ragged and the dictionaries hold columns in memory by what is distinct in them;
//   - SectionWriter and NewSectionDecoder write and read columns with a table of strings;
//   - a block is content that is packed and has a checksum (AppendBlock, OpenBlock): as it is, by zstd, or by the mixing codec
//     for small ones; an Index lists the blocks of a file.
//
// Invariants:
//
//   - equal input gives equal bytes;
//   - a decoder takes memory from its budget before it uses it, and bytes that are damaged give an error, never a panic;
//   - the first error of a Decoder stays, and everything that it reads afterwards is zero.
//
// It imports trace/grammar and nothing else of this module: a sequence may be a grammar, and a grammar is written as
// sequences, so the encoding of both is here. Sequences as grammars take nested regular rank lists with them (ScalaTrace II:
// Wu and Mueller, ICS 2013, §2.2); the rules of a whole trace share what differs only in exponents (§3.2 to 3.4). The mixing
// codec is after Mahoney (Florida Tech. CS-2005-16).
package codec
