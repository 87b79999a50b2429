package journal

// HoldInMemory makes journals need a file beyond so many bytes, until undo is called.
func HoldInMemory(bytes int64) (undo func()) {
	before := memory
	memory = bytes
	return func() { memory = before }
}
