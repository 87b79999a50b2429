package clock

// timeStampCounter reads the counter of the clock "tsc".
func timeStampCounter() int64

const hasTimeStampCounter = true
