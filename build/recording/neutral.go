package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"koordinator.sh/koord/build/recording/cast"
	"koordinator.sh/koord/test/sandboxtest"
)

// particular is what only this machine or this hour has, whatever its name: directories of users and of temporary files, dates and clocks.
var particular = regexp.MustCompile(`/(?:home|root|tmp|Users)/\S*|\b20\d\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b`)

// local are the names of this machine and the directories of a sandbox, which a recording must not show.
func local(sandbox *sandboxtest.Sandbox) ([]string, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("get the host name: %w", err)
	}
	return []string{host, sandbox.Home, sandbox.Program("")}, nil
}

// neutral returns an error if a recording shows what is particular, or one of the names.
func neutral(r cast.Recording, names []string) error {
	for _, event := range r.Events {
		if found := particular.FindString(event.Output); found != "" {
			return fmt.Errorf("at %s of recording %q is %q, which another machine does not show", event.At, r.Title, found)
		}
		for _, name := range names {
			if contains(event.Output, name) {
				return fmt.Errorf("at %s of recording %q is %q, a name of this machine", event.At, r.Title, name)
			}
		}
	}
	return nil
}

// contains is true if a name stands in a text by itself, not as a part of a word.
func contains(text, name string) bool {
	if name == "" {
		return false
	}
	alone := regexp.MustCompile(`(?:^|[^0-9A-Za-z-])` + regexp.QuoteMeta(strings.TrimSuffix(name, "/")) + `(?:$|[^0-9A-Za-z-])`)
	return alone.MatchString(text)
}
