package report

// Files are the report's files by name, as they lie under report/.
func (r *Report) Files() (map[string][]byte, error) {
	data, err := r.JSON()
	if err != nil {
		return nil, err
	}
	page, err := r.HTML()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"report.json": data, "index.html": page}, nil
}
