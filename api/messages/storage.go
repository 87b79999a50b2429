package messages

// StorageReason is the reason why the storage cannot be used.
type StorageReason string

// Reasons of a StorageCheck, and of every other command that failed because of the storage.
const (
	StorageCredentialsMissing StorageReason = "CredentialsMissing" // no key to sign requests with
	StorageAccessDenied       StorageReason = "AccessDenied"       // the key is unknown, wrong, or has no permission
	StorageBucketMissing      StorageReason = "BucketMissing"
	StorageUnreachable        StorageReason = "Unreachable" // no response, or one that asks to retry later
	StorageOther              StorageReason = "Other"
)

// StorageCheck is the termination message of "cairn check-storage".
type StorageCheck struct {
	OK      bool          `json:"ok"`
	Reason  StorageReason `json:"reason"`
	Message string        `json:"message"`
}

// Fit shortens the message until it fits into a termination message.
func (c StorageCheck) Fit() StorageCheck {
	c.Message = Shorten(c.Message, maxText)
	squeeze(func() bool { return fits(c) }, &c.Message)
	return c
}

// StorageTrouble is the part of a message about a failure of the storage.
type StorageTrouble struct {
	Reason  StorageReason `json:"reason"`
	Message string        `json:"message"`
}

// fit returns a copy with a text of at most limit bytes, or nil for nil.
func (t *StorageTrouble) fit(limit int) *StorageTrouble {
	if t == nil {
		return nil
	}
	return &StorageTrouble{t.Reason, Shorten(t.Message, limit)}
}

// text returns a pointer to the trouble's text, for shortening.
func (t *StorageTrouble) text() *string {
	if t == nil {
		return new(string)
	}
	return &t.Message
}
