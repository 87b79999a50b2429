package report

// Names of the report's files, below report/.
const (
	DataFile = "report.json"
	TextFile = "summary.txt"
	PageFile = "index.html"
)

// FileNames are the report's files in the order in which they are written: the page, which people
// open, is last.
var FileNames = []string{DataFile, TextFile, PageFile}

// Files returns the report's files by name.
func (r *Report) Files() (map[string][]byte, error) {
	data, err := r.JSON()
	if err != nil {
		return nil, err
	}
	page, err := r.HTML()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{DataFile: data, TextFile: []byte(r.Text()), PageFile: page}, nil
}
