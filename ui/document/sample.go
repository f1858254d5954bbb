package document

// FromSample opens a case that comes with the program. As long as nobody has
// edited it, the store does not list it among the recent cases.
func FromSample(title string, request []byte) (*Case, error) {
	c, err := FromJSON(request)
	if err != nil {
		return nil, err
	}
	c.now.title, c.sample = title, true
	return c, nil
}
