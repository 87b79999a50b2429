package clock

// timeStampCounter reads the counter that records are stamped with where the clock is "tsc".
func timeStampCounter() int64

const hasTimeStampCounter = true
