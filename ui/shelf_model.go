package ui

import (
	"fmt"
	"time"
)

// Shelf is the store of models behind the shelf. Methods may be called from any
// goroutine and return at once; what they do is told through Watch. IDs are those
// of [Models].
type Shelf interface {
	Machine() Machine
	Shelved() []Shelved // those on this computer first, then those that can be downloaded

	Get(id string)    // downloads, resumes, or fetches what is missing
	Pause(id string)  // keeps what has arrived
	Cancel(id string) // gives the download up and deletes what has arrived
	Check(id string)  // checks files and built-in probes; the result is in Shelved.Verdict
	// CheckAgainst checks a model and holds its answers against those of a file that Record wrote.
	CheckAgainst(id, record string)
	// Record keeps the answers of the last check in a file. done is called once, from any goroutine.
	Record(id, file string, done func(error))
	// Repair fetches the files again that a check found damaged.
	Repair(id string)
	Remove(id string) // deletes the files that no other revision shares
	Reveal(id string) // shows the files in Finder, or the file manager
	About(id string) About
	// OpenAnyway opens a model that does not seem to fit into memory.
	OpenAnyway(id string)

	// Search lists an owner's repositories on the Hub that hold a Clef model, AddRepo puts one on the list of what can be
	// downloaded, by its name owner/name. Both ask the Hub; done is called once, from any goroutine.
	Search(owner string, done func(Hits, error))
	AddRepo(repo string, done func(error))

	// SetOffline forbids every download, and pauses those under way, or allows them again.
	SetOffline(on bool)
	// Folder is where downloads go, fixed by the environment or free to be set. SetFolder's done is called once, from any
	// goroutine; what is in the old folder stays there and leaves the list.
	Folder() (path string, fixed bool)
	SetFolder(path string, done func(error))

	AddFolder(path string)
	// AddServer lists the models of another /v1/systemone server. done is called
	// once, from any goroutine; key may be empty.
	AddServer(address, key string, done func(error))

	Watch(changed func()) // called from any goroutine
}

// Hits is what a search of the Hub found.
type Hits struct {
	List   []Hit
	Looked int  // repositories that were looked at
	More   bool // there are others
}

// Hit is a repository of the Hub.
type Hit struct {
	Repo   string
	Note   string // what is known about it, or why it cannot be used
	Usable bool
	Listed bool // it is on the shelf already
}

// Machine is what this computer has for models.
type Machine struct {
	Name  string // "M2 Max, 32 GB"
	Gives int64  // bytes that models may use together, the open one included; 0 for unknown
	InUse int64  // bytes that the open model uses

	Looking bool   // the disk is still being read: more models may turn up
	Trouble string // why the place where downloads go cannot be read; "" when it can
	Offline bool   // the person wants no network: nothing can be downloaded
	// NoSwitch is set when the environment says so and the window cannot change it.
	NoSwitch bool
}

// Stage is where a model is between a server and memory.
type Stage uint8

// The stages.
const (
	StageRemote      Stage = iota // can be downloaded
	StageArriving                 // is being downloaded
	StagePaused                   // the download rests
	StageFailed                   // the download stopped; Why tells
	StageIncomplete               // files are missing
	StageReady                    // can be opened
	StageOpen                     // in memory
	StageNoHead                   // a backbone without Clef's decision head
	StageUnsupported              // cannot be opened; Why tells
	StageAway                     // the disk or folder it is on is not there
)

// Shelved is one model on the shelf.
type Shelved struct {
	ID       string
	Name     string // "Clef-flash"
	Layout   string // "4-bit"; "" for a practice model
	Note     string // one sentence: what to expect of this precision
	Stage    Stage
	Why      string // one sentence, for the stages that need one; takes the place of Note
	Practice bool
	Given    bool   // comes with the list of what can be downloaded: the person did not add it
	Loose    bool   // in a folder of the person's own: taking it off the list deletes nothing
	Server   string // address of the server that runs it; "" for this computer
	Known    bool   // Memory and Ticket are known
	Revision string // commit of the files, "" where there is none

	Disk   int64         // bytes on disk, or to get
	Memory int64         // bytes it needs while it is open
	Ticket time.Duration // for a ticket of 500 tokens
	// Measured is set when Ticket was measured here and not predicted.
	Measured bool

	Done, Total int64 // bytes of a download
	Speed       int64 // bytes a second, 0 for unknown
	Left        time.Duration

	Verdict *Verdict // of the last check, nil before it
}

// About is what there is to know of a model.
type About struct {
	Text   string      // a sentence or two: what it is
	Facts  [][2]string // names and what there is to say
	Report string      // how it was made and how good it is, in Markdown; "" where nobody says
}

// Verdict is what checking a model found.
type Verdict struct {
	Running bool
	Doing   string // while it runs: "Reading the files, 43 %"
	Good    bool
	Text    string // one sentence: what was checked, or what is wrong
	// Compared is how many probes had reference answers, Difference the largest difference from them.
	Compared   int
	Difference float64
	Answered   bool // the probes were answered: Record has something to keep
	Damaged    bool // Repair can bring the files again
	Findings   []Finding
	Report     string // all of it as text, to be passed on
}

// Finding is one thing that was looked at.
type Finding struct {
	Name, Detail  string
	Good, Skipped bool
}

// here reports that the model, or a part of it, is on this computer.
func (s Shelved) here() bool { return s.Stage != StageRemote }

// fitting says whether a model fits into the memory that models may use.
type fitting uint8

const (
	fits fitting = iota
	tight
	tooMuch
)

// tightFrom is the share of memory from which a model is called tight.
const tightFrom = 0.8

// fitOf judges a model as if the open one had been unloaded.
func (m Machine) fitOf(s Shelved) fitting {
	switch need, have := float64(s.Memory), float64(m.Gives); {
	case have <= 0:
		return fits // nobody can say: opening it will tell
	case need > have:
		return tooMuch
	case need > tightFrom*have:
		return tight
	}
	return fits
}

// fitWord writes the judgement.
func (m Machine) fitWord(s Shelved) string {
	if m.Gives <= 0 {
		return ""
	}
	switch m.fitOf(s) {
	case tooMuch:
		return bytesText(s.Memory-m.Gives) + " too much"
	case tight:
		return "tight"
	}
	return "fits"
}

// ticketText writes the time of a ticket; what is not measured is marked.
func (s Shelved) ticketText(m Machine) string {
	switch {
	case !s.Known || s.Ticket <= 0 || m.fitOf(s) == tooMuch && s.Server == "" || s.Stage == StageNoHead || s.Stage == StageUnsupported:
		return "–"
	case s.Measured:
		return seconds(s.Ticket)
	}
	return "~" + roughly(s.Ticket)
}

// roughly writes an estimate with no more figures than it has: 0.67 s, 2.4 s, 139 s.
func roughly(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 1:
		return seconds(d)
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	default:
		return fmt.Sprintf("%.0f s", s)
	}
}

// progressText writes how much of a download has arrived.
func (s Shelved) progressText() string {
	if s.Total >= 1e9 {
		return fmt.Sprintf("%.1f of %.1f GB", float64(s.Done)/1e9, float64(s.Total)/1e9)
	}
	return bytesText(s.Done) + " of " + bytesText(s.Total)
}

// leftText writes how long a download will take.
func leftText(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 90*time.Second:
		return fmt.Sprintf("%d s left", int(d.Round(time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min left", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%.1f h left", d.Hours())
}

// speedText writes bytes a second: "84 MB/s".
func speedText(n int64) string {
	if n <= 0 {
		return ""
	}
	return bytesText(n) + "/s"
}
