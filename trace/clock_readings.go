package trace

// What MPI_Wtime returned are times, though the program read them itself: their value sequences have blocks of their own,
// which count as timing (docs/decisions/0043-clock-readings.md).
const clockFunction = "MPI_Wtime"

// clockReadings tells which value sequences hold nothing but results of MPI_Wtime.
func clockReadings(c *Content) []bool {
	readings, other := make([]bool, len(c.Sequences)), make([]bool, len(c.Sequences))
	for _, streams := range c.Threads.streamSets.lists {
		for _, ref := range streams {
			s := &c.Signatures[ref.Terminal]
			if s.Return.Form == Stream && s.Return.Int == int64(ref.Number) && c.function(s.Function).Name == clockFunction {
				readings[ref.Sequence] = true
			} else {
				other[ref.Sequence] = true
			}
		}
	}
	for i := range readings {
		readings[i] = readings[i] && !other[i]
	}
	return readings
}

// clockReadings writes the value sequences that are clock readings: their numbers, encoded lengths and encodings.
func (f *fileWriter) clockReadings(sequences [][]int64, readings []bool) {
	var numbers, lengths []int64
	var bytes []byte
	for i, sequence := range sequences {
		if readings[i] {
			before := len(bytes)
			bytes = AppendSequence(bytes, sequence)
			numbers, lengths = append(numbers, int64(i)), append(lengths, int64(len(bytes)-before))
		}
		if len(bytes) >= sequenceBlockBytes || i == len(sequences)-1 && len(numbers) > 0 {
			f.block(blockClockReadings, numbers[0], 0, append(AppendSequence(AppendSequence(nil, numbers), lengths), bytes...))
			numbers, lengths, bytes = numbers[:0], lengths[:0], bytes[:0]
		}
	}
}
