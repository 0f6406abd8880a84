package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// figure is one measured value and what it must be.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	// Must says what the value must be; empty for a value that is reported and not judged.
	Must   string `json:"must,omitempty"`
	Missed bool   `json:"missed,omitempty"`
	Note   string `json:"note,omitempty"`
}

// measurement is a value that is not judged.
func measurement(name string, value float64, unit, note string) figure {
	return figure{Name: name, Value: value, Unit: unit, Note: note}
}

// atMost is a value that must not exceed a limit.
func atMost(limit float64, f figure) figure {
	f.Must, f.Missed = fmt.Sprintf("<= %s", amount(limit, f.Unit)), f.Value > limit
	return f
}

// atLeast is a value that must reach a limit.
func atLeast(limit float64, f figure) figure {
	f.Must, f.Missed = fmt.Sprintf(">= %s", amount(limit, f.Unit)), f.Value < limit
	return f
}

func amount(value float64, unit string) string {
	text := fmt.Sprintf("%.4g", value)
	if unit != "" {
		text += " " + unit
	}
	return text
}

// report prints the figures as a Markdown table.
func report(w io.Writer, figures []figure) {
	fmt.Fprintln(w, "| what | measured | must be | note |\n| --- | ---: | ---: | --- |")
	for _, f := range figures {
		must := "-"
		if f.Must != "" {
			must = f.Must
		}
		if f.Missed {
			must += " (missed)"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", f.Name, amount(f.Value, f.Unit), must, f.Note)
	}
}

func writeJSON(path string, figures []figure) error {
	data, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
