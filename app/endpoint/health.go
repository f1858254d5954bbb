package endpoint

import (
	"net/http"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
)

// health tells that the server is up, whatever the model does.
func (s *Server) health(x *exchange) error {
	x.write(http.StatusOK, encode(s.healthBody("ok", s.work.Status())))
	return nil
}

// ready tells whether the default model is open.
func (s *Server) ready(x *exchange) error {
	st := s.work.Status()
	if st.Ready {
		x.write(http.StatusOK, encode(s.healthBody("ok", st)))
		return nil
	}
	word := "idle"
	if st.Loading != "" {
		word = "loading"
	} else if st.Err != nil {
		word = "failed"
	}
	retryAfter(x.w.Header(), s.work.RetryAfter(engine.Loading))
	x.write(http.StatusServiceUnavailable, encode(s.healthBody(word, st)))
	return nil
}

type healthBody struct {
	Status  string   `json:"status"`
	Program string   `json:"program"`
	Version string   `json:"version"`
	Model   string   `json:"model"`
	Loaded  []string `json:"loaded"`
	Loading *string  `json:"loading"`
	Queue   int      `json:"queue"`
}

func (s *Server) healthBody(word string, st worker.Status) healthBody {
	b := healthBody{
		Status: word, Program: program, Version: s.opt.Version, Model: st.Chosen.Name,
		Loaded: st.Loaded, Queue: st.Waiting,
	}
	if b.Loaded == nil {
		b.Loaded = []string{}
	}
	if st.Loading != "" {
		b.Loading = &st.Loading
	}
	return b
}

// models lists the names that requests may use, in TypeSafe's shape and beside it in
// OpenAI's (endpoint.md 5).
func (s *Server) models(x *exchange) error {
	type ours struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Released    string `json:"release_date"`
	}
	type theirs struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list, data := []ours{}, []theirs{}
	for _, l := range s.opt.List() {
		day, err := time.Parse(time.DateOnly, l.Released)
		if err != nil {
			day = time.Unix(0, 0).UTC()
		}
		list = append(list, ours{l.Name, l.Description, day.Format(time.DateOnly)})
		data = append(data, theirs{l.Name, "model", day.Unix(), "cloudflare"})
	}
	x.write(http.StatusOK, encode(struct {
		Models []ours   `json:"models"`
		Object string   `json:"object"`
		Data   []theirs `json:"data"`
	}{list, "list", data}))
	return nil
}
