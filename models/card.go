package models

import (
	"encoding/json"
	"time"
)

const cardFile = "clefbar.json"

// Card is clefbar.json, an optional file of our own that describes a model to people.
type Card struct {
	Name         string  `json:"name"`
	Description  string  `json:"description"`
	Released     string  `json:"release_date"` // YYYY-MM-DD
	Practice     bool    `json:"practice"`     // answers are for practice, not for decisions
	PracticeNote string  `json:"practice_note"`
	Temperature  float64 `json:"temperature"` // fitted on held-out data; 0 or 1 leaves logits as they are
}

func parseCard(data []byte) (Card, error) {
	var c Card
	if _, err := members(data); err != nil {
		return c, &Error{Kind: Malformed, File: cardFile, Message: err.Error(), Err: err}
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, &Error{Kind: Malformed, File: cardFile, Message: "not a model card: " + err.Error(), Err: err}
	}
	if c.Released != "" {
		if _, err := time.Parse(time.DateOnly, c.Released); err != nil {
			return c, fileError(Malformed, cardFile, "release_date %q is not a date like 2026-01-31", c.Released)
		}
	}
	if c.Temperature < 0 || c.Temperature > 100 {
		return c, fileError(Malformed, cardFile, "temperature %v must be between 0 and 100", c.Temperature)
	}
	return c, nil
}
