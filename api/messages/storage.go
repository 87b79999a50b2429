package messages

// StorageReason says why the storage cannot be used.
type StorageReason string

// Reasons of a StorageCheck, and of every other command that the storage failed.
const (
	StorageCredentialsMissing StorageReason = "CredentialsMissing" // no key to sign requests with
	StorageAccessDenied       StorageReason = "AccessDenied"       // the key is unknown, wrong, or may not
	StorageBucketMissing      StorageReason = "BucketMissing"
	StorageUnreachable        StorageReason = "Unreachable" // no answer, or one that says to try again later
	StorageOther              StorageReason = "Other"
)

// StorageCheck is the termination message of "cairn check-storage".
type StorageCheck struct {
	OK      bool          `json:"ok"`
	Reason  StorageReason `json:"reason"`
	Message string        `json:"message"`
}

// Fit shortens the message until Kubernetes keeps it.
func (c StorageCheck) Fit() StorageCheck {
	c.Message = Shorten(c.Message, maxText)
	squeeze(func() bool { return fits(c) }, &c.Message)
	return c
}

// StorageTrouble is part of the message of a command that the storage failed.
type StorageTrouble struct {
	Reason  StorageReason `json:"reason"`
	Message string        `json:"message"`
}

// fit gives a copy with a text of at most limit bytes; nil for nil.
func (t *StorageTrouble) fit(limit int) *StorageTrouble {
	if t == nil {
		return nil
	}
	return &StorageTrouble{t.Reason, Shorten(t.Message, limit)}
}

// text is the trouble's, for those who shorten it.
func (t *StorageTrouble) text() *string {
	if t == nil {
		return new(string)
	}
	return &t.Message
}
