package bench

import (
	"strings"

	"clefbar/engine"
)

// words fill the state; their number sets the length.
const words = "The customer writes that the second invoice of this month was charged twice and asks for the money back before Friday . "

// questions are asked about the state, from many to one: a short request has room for few.
var questions = []string{
	`"team":{"type":"choice","instructions":"Which team should handle this?","criteria":{"billing":"Payments or invoices","technical":"Bugs or outages"}},
"urgency":{"type":"score","instructions":"How urgent is it?","criteria":["Can wait","This week","Today"]},
"refund":{"type":"noul","instructions":"Does the customer ask for a refund?"}`,
	`"refund":{"type":"noul","instructions":"A refund?","criteria":{"true":"yes","false":"no"}}`,
}

// Request builds a request that m reads as `tokens` tokens, or as few fewer as its vocabulary
// allows; it is longer only if one question alone is.
func Request(m Subject, tokens int) (*engine.Request, error) {
	var r *engine.Request
	for _, q := range questions {
		var err error
		if r, err = engine.ParseRequest([]byte(`{"state":"","questions":{`+q+`}}`), engine.Limits{}); err != nil {
			return nil, err
		}
		if ok, err := fits(m, r, "", tokens); err != nil {
			return nil, err
		} else if ok {
			break
		}
	}
	n, err := most(tokens*len(words), func(n int) (bool, error) { return fits(m, r, text(n), tokens) })
	if err != nil {
		return nil, err
	}
	r.State = engine.Text(text(n))
	return r, nil
}

// fits sets the state and reports whether m reads the request as at most `tokens` tokens.
func fits(m Subject, r *engine.Request, state string, tokens int) (bool, error) {
	r.State = engine.Text(state)
	e, err := m.Encode(r)
	switch {
	case err == nil:
		return len(e.IDs) <= tokens, nil
	case engine.ReasonOf(err) == engine.TooLong:
		return false, nil
	}
	return false, err
}

// text returns the first n bytes of the words, over and over.
func text(n int) string {
	return strings.Repeat(words, n/len(words)+1)[:n]
}

// most returns the largest n up to limit for which ok holds, 0 if it holds for none. If ok
// holds for n it holds for everything below; it is not asked about much more than it needs.
func most(limit int, ok func(n int) (bool, error)) (int, error) {
	low, high := 0, 64
	for high < limit {
		good, err := ok(high)
		if err != nil {
			return 0, err
		}
		if !good {
			break
		}
		low, high = high, 2*high
	}
	for high = min(high, limit); high-low > 1; {
		mid := (low + high) / 2
		good, err := ok(mid)
		if err != nil {
			return 0, err
		}
		if good {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}
