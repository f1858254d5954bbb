package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"clefbar/engine"
)

// kindWords are the plain words for the kinds of question, as in the window.
var kindWords = map[engine.Kind]string{engine.Choice: "pick one", engine.Score: "rate", engine.Noul: "yes or no"}

// eighths are the parts of a bar's last cell.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// printBars writes a response for a person: one bar per allowed answer, the most
// probable one bold and marked, latency and tokens below. info is the model's, wide the width in columns.
func printBars(w io.Writer, resp *engine.Response, info engine.ModelInfo, wide int) {
	label := labelColumns(resp, wide)
	cells := min(max(wide-label-12, 8), 50)
	for _, a := range resp.Answers {
		fmt.Fprintln(w, heading(a))
		for i, p := range barProbs(a) {
			mark, name := " ", fit(optionLabel(a, i), label)
			number := fmt.Sprintf("%.2f", p)
			if i == a.Best {
				mark, name, number = "●", bold(name), bold(number)
			}
			fmt.Fprintf(w, "%s %s %s %s\n", mark, name, bar(p, cells), number)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, summary(resp, info))
}

// barProbs returns one probability per allowed answer, also for a noul.
func barProbs(a engine.Answer) []float64 {
	if a.Kind == engine.Noul && len(a.Probs) < 2 {
		return []float64{a.Noul, 1 - a.Noul}
	}
	return a.Probs
}

func heading(a engine.Answer) string {
	line := bold(clean(a.ID)) + "  " + kindWords[a.Kind]
	switch a.Kind {
	case engine.Score:
		line += fmt.Sprintf(" · %.2f of %d", a.Score, len(a.Options)-1)
	case engine.Choice:
		line += fmt.Sprintf(" · confidence %.2f", a.Confidence)
	}
	return line
}

// optionLabel names an allowed answer as a person would.
func optionLabel(a engine.Answer, i int) string {
	switch a.Kind {
	case engine.Noul:
		return [...]string{"yes", "no"}[min(i, 1)]
	case engine.Score:
		if i < len(a.Legend) {
			return clean(a.Legend[i].Render())
		}
	}
	return clean(a.Options[i])
}

// labelColumns returns how wide the names are, at most a third of the line.
func labelColumns(resp *engine.Response, wide int) int {
	n := 3
	for _, a := range resp.Answers {
		for i := range barProbs(a) {
			n = max(n, columns(optionLabel(a, i)))
		}
	}
	return min(n, max(wide/3, 8))
}

// bar draws p as cells of a line, to an eighth of a cell. Anything above zero shows.
func bar(p float64, cells int) string {
	parts := int(math.Round(p * float64(cells) * 8))
	if p > 0 {
		parts = max(parts, 1)
	}
	s := strings.Repeat("█", parts/8)
	if rest := parts % 8; rest > 0 {
		s += string(eighths[rest])
	}
	return s + strings.Repeat(" ", cells-columns(s))
}

func summary(resp *engine.Response, info engine.ModelInfo) string {
	t := resp.Timing
	parts := []string{seconds(t.Total)}
	if t.Prefill > 0 {
		parts[0] += fmt.Sprintf(" (encode %s · read %s · head %s)", millis(t.Encode), millis(t.Prefill), millis(t.Head))
	}
	tokens := fmt.Sprintf("%d tokens", resp.Usage.InputTokens)
	if info.Limit > 0 {
		tokens = fmt.Sprintf("%d of %d tokens", resp.Usage.InputTokens, info.Limit)
	}
	parts = append(parts, tokens)
	if resp.Truncated > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens cut from the end of the state", resp.Truncated))
	}
	model := clean(resp.Model)
	if resp.Practice {
		model += ", a practice model"
	}
	if t := info.Temperature; t > 0 && t != 1 {
		model += fmt.Sprintf(", calibrated with temperature %.2f", t)
	}
	return strings.Join(append(parts, model), " · ")
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return millis(d)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
