// Package ui is what people see: one window in which the form is the chart. Left
// the state, right the questions, each option with its probability in the same row.
//
// The package talks to the rest of the program through the small interfaces of
// [Deps]. It starts nothing long on the UI goroutine; results come back through
// one fyne.Do. All methods of [Window] are for the UI goroutine unless they say
// otherwise.
package ui

import (
	"cmp"
	"time"

	"clefbar/engine"
	"clefbar/ui/document"
)

// Deps is what the window needs from the program.
type Deps struct {
	Engine   Engine
	Models   Models
	Endpoint Endpoint
	Requests Requests        // what the endpoint saw; nil is an empty log
	Shelf    Shelf           // the store of models; nil leaves the shelf out
	History  History         // what programs asked, kept on disk; nil leaves the setting out
	Settings Settings        // as they were saved
	Save     func(Settings)  // keeps changed settings
	Cases    *document.Store // keeps the open case; nil keeps nothing
	Samples  []Sample        // in the order of the menu
	Memory   func() int64    // resident bytes of the process, 0 where unknown
	Version  string          // shown in About
	Quit     func()          // ends the program
	FirstRun bool            // nothing was ever saved on this machine
}

// Engine answers requests and says what the model would read. Both methods may be
// called from any goroutine.
type Engine interface {
	engine.Decider
	// Encode renders a request with the tokenizer of the open model.
	Encode(r *engine.Request) (*engine.Encoding, error)
}

// Models chooses the model that answers. Methods may be called from any goroutine
// and return at once; progress is told through Watch.
type Models interface {
	List() []Model
	State() ModelState
	Open(id string)        // closes the current one and opens this
	Stop()                 // gives up opening
	Unload()               // frees the memory; the next decision opens it again
	Raise(limit int)       // opens the model anew for requests of so many tokens, also after a restart
	AddFolder(path string) // any folder with a model in it
	Watch(changed func())  // called from any goroutine
}

// Model is one model that can be chosen.
type Model struct {
	ID       string // for Open
	Name     string // "Clef-flash"
	Layout   string // "4-bit"
	Note     string // "6.2 GB, fits", "practice model", or why it cannot be opened
	Usable   bool
	Practice bool
}

// full is the model's name for people, with its layout: "Clef-flash 8-bit". A practice model has only a name.
func (m Model) full() string { return modelTitle(m.Name, m.Layout, m.Practice) }

func modelTitle(name, layout string, practice bool) string {
	if layout == "" || practice {
		return modelName(name)
	}
	return modelName(name) + " " + layout
}

// Phase is where a model is between chosen and ready.
type Phase uint8

// The phases.
const (
	PhaseNone    Phase = iota // no model is open
	PhaseOpening              // Done of Total bytes are in place
	PhaseReady
	PhaseFailed // Err says why
)

// ModelState is the model in use, or on its way.
type ModelState struct {
	Phase       Phase
	ID          string
	Info        engine.ModelInfo
	Done, Total int64         // bytes, while opening
	Left        time.Duration // estimate, 0 for none
	Err         error
	Longer      Longer
}

// Longer says how far the limit of a model can be raised. The zero value is not at all.
type Longer struct {
	Most     int   // tokens
	PerToken int64 // bytes that a token more takes
}

// answers reports whether a decision can be asked for. One that was unloaded opens
// again by itself.
func (s ModelState) answers() bool {
	return s.Phase == PhaseReady || s.Phase == PhaseNone && s.ID != ""
}

func (s ModelState) title() string {
	if s.Info.Name == "" {
		return "No model"
	}
	return modelName(s.Info.Name)
}

// modelName writes a model's short name as a title: "clef-flash" is Clef-flash.
func modelName(s string) string {
	if s == "" {
		return ""
	}
	if s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// full is the name with the layout: "Clef-flash 8-bit".
func (s ModelState) full() string {
	return modelTitle(cmp.Or(s.Info.Name, "No model"), s.Info.Layout, s.Info.Practice)
}

// Endpoint is the server on this machine. Methods may be called from any goroutine
// and return at once; results are told through Watch.
type Endpoint interface {
	State() EndpointState
	SetOn(on bool)
	SetPort(port int)
	SetKey(on bool) // asks callers for a key, which is made anew, or stops asking
	// Key is what callers have to send, "" for nothing. It asks the system's store and may wait for the person.
	Key() (string, error)
	Watch(changed func()) // called from any goroutine
}

// EndpointState is what the window says about the endpoint.
type EndpointState struct {
	On    bool
	Port  int
	Key   bool  // callers must send a key
	Err   error // why it is not answering although it is on
	Busy  bool  // a program's request runs, or has just been answered
	Today int   // requests answered today
}

// URL is the address programs send requests to.
func (s EndpointState) URL() string { return "http://127.0.0.1:" + itoa(s.Port) + "/v1/systemone" }

// History keeps on disk what programs ask and hear, if the person says so. Methods may be called from any
// goroutine.
type History interface {
	On() bool
	SetOn(on bool)
	Note() string // what it keeps and within which limits, for the settings
}

// Sample is one case that comes with the program.
type Sample struct {
	Title string // "Ticket routing"
	Note  string // "Which team, how urgent"
	JSON  []byte // a request or a case file
}

// Settings are what a person has chosen. The zero value is not valid; see
// DefaultSettings.
type Settings struct {
	Appearance  Appearance `json:"appearance"`
	TextScale   float32    `json:"text_scale"`
	Animations  bool       `json:"animations"`
	Threshold   float64    `json:"threshold"`
	Live        *bool      `json:"live,omitempty"` // nil: on while decisions take under 150 ms
	StateWidth  float32    `json:"state_width"`    // of the left pane, dp
	StateLines  float32    `json:"state_lines"`    // height of the state above the questions, dp
	Width       float32    `json:"width"`
	Height      float32    `json:"height"`
	HintsClosed []string   `json:"hints_closed,omitempty"`
	ToldHiding  bool       `json:"told_hiding"`
	LegendSeen  bool       `json:"legend_seen"`
	IdleMinutes int        `json:"idle_minutes,omitempty"` // until a model that nobody asks is unloaded; 0: never
}

// DefaultSettings are those of a first start.
func DefaultSettings() Settings {
	return Settings{
		Appearance: AppearanceSystem, TextScale: 1, Animations: true, Threshold: 0.8,
		StateWidth: 376, StateLines: 110, Width: 1180, Height: 732,
	}
}

// checked replaces what is out of bounds, as in a file that was edited by hand.
func (s Settings) checked() Settings {
	d := DefaultSettings()
	switch s.Appearance {
	case AppearanceSystem, AppearanceLight, AppearanceDark:
	default:
		s.Appearance = d.Appearance
	}
	s.TextScale = within(s.TextScale, 0.8, 2, d.TextScale)
	s.Threshold = within(s.Threshold, thresholdLow, thresholdHigh, d.Threshold)
	s.StateWidth = within(s.StateWidth, 280, 4000, d.StateWidth)
	s.StateLines = within(s.StateLines, 80, 400, d.StateLines)
	s.IdleMinutes = min(max(s.IdleMinutes, 0), 24*60)
	s.Width = within(s.Width, 760, 10000, d.Width)
	s.Height = within(s.Height, 520, 10000, d.Height)
	return s
}

func within[T float32 | float64](v, low, high, otherwise T) T {
	if v >= low && v <= high {
		return v
	}
	return otherwise
}
