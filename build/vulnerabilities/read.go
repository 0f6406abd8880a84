package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// standardLibrary is the module by which govulncheck names it.
const standardLibrary = "stdlib"

// vulnerability is one that concerns an imported package.
type vulnerability struct {
	id, summary string
	// places are the modules that have it, in the order in which they were found.
	places []place
}

// place is a module with a vulnerability.
type place struct {
	module, version string
	// fixed is the first version without it; empty when there is none.
	fixed string
}

// message is one of the objects that govulncheck prints; the fields that are not set are absent.
type message struct {
	OSV     *osv     `json:"osv"`
	Finding *finding `json:"finding"`
}

type osv struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
}

type finding struct {
	OSV          string  `json:"osv"`
	FixedVersion string  `json:"fixed_version"`
	Trace        []frame `json:"trace"`
}

// frame says where the vulnerability is; the package is empty in modules of which no vulnerable package is imported.
type frame struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	Package string `json:"package"`
}

// readFindings returns the vulnerabilities of imported packages, ordered by id. Input without any message is an error: a check that was
// not made must not look like one that found nothing.
func readFindings(in io.Reader) ([]vulnerability, error) {
	summaries, found, messages := map[string]string{}, map[string]*vulnerability{}, 0
	for decoder := json.NewDecoder(in); ; messages++ {
		var next message
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if next.OSV != nil {
			summaries[next.OSV.ID] = next.OSV.Summary
		}
		if f := next.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Package != "" {
			add(found, f)
		}
	}
	if messages == 0 {
		return nil, errors.New("there is none")
	}
	var out []vulnerability
	for id, v := range found {
		v.summary = summaries[id]
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b vulnerability) int { return strings.Compare(a.id, b.id) })
	return out, nil
}

func add(found map[string]*vulnerability, f *finding) {
	v := found[f.OSV]
	if v == nil {
		v = &vulnerability{id: f.OSV}
		found[f.OSV] = v
	}
	where := place{module: f.Trace[0].Module, version: f.Trace[0].Version, fixed: f.FixedVersion}
	if !slices.Contains(v.places, where) {
		v.places = append(v.places, where)
	}
}

// readAccepted reads lines of an id and a reason. Empty lines and those that begin with # are ignored.
func readAccepted(text string) (map[string]string, error) {
	out := map[string]string{}
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" || !strings.HasPrefix(id, "GO-") {
			return nil, fmt.Errorf("line %d: want an id such as GO-2026-0001 and the reason why it is accepted", number+1)
		}
		out[id] = reason
	}
	return out, nil
}
