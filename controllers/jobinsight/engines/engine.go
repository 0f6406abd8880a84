package engines

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"koordinator.sh/koord/decision/core/enginerun"
	"koordinator.sh/koord/decision/core/jobinsight"
)

// Most is how many engines can be read.
const Most = 32

// mostName bounds the name of an engine, in bytes.
const mostName = 63

// Engine tells of applications or queries that ended. It is read by one goroutine at a time.
type Engine struct {
	// Name is TYPE/NAME, and unique.
	Name string
	// Source of the runs that it tells of.
	Source jobinsight.Source
	// Interval is the time between two reads.
	Interval time.Duration
	// Read returns the runs that ended since a time, or all that the engine knows where that is zero. It may return others, too.
	Read func(ctx context.Context, since time.Time) ([]enginerun.Event, error)
}

// kind of engine.
type kind struct {
	source   jobinsight.Source
	interval time.Duration
	// read makes the function Read for the addresses of an engine.
	read func(addresses []string) func(ctx context.Context, since time.Time) ([]enginerun.Event, error)
}

// types of engines.
var types = map[string]kind{
	"spark": {jobinsight.Spark, 30 * time.Second, readSpark},
	"trino": {jobinsight.Trino, 15 * time.Second, readTrino},
	"yarn":  {jobinsight.YARN, 30 * time.Second, readYARN},
}

// Parse reads declarations of engines, TYPE/NAME=ADDRESS,ADDRESS.
func Parse(declarations []string) ([]Engine, error) {
	if len(declarations) > Most {
		return nil, fmt.Errorf("%d engines are declared; at most %d can be read", len(declarations), Most)
	}
	out := make([]Engine, 0, len(declarations))
	for _, declaration := range declarations {
		engine, err := parse(declaration)
		if err != nil {
			return nil, fmt.Errorf("engine %q: %w", declaration, err)
		}
		if slices.ContainsFunc(out, func(other Engine) bool { return other.Name == engine.Name }) {
			return nil, fmt.Errorf("engine %q is declared twice", engine.Name)
		}
		out = append(out, engine)
	}
	return out, nil
}

func parse(declaration string) (Engine, error) {
	id, list, _ := strings.Cut(declaration, "=")
	of, name, _ := strings.Cut(id, "/")
	if name == "" || list == "" || len(name) > mostName {
		return Engine{}, fmt.Errorf("must be TYPE/NAME=URL[,URL...]")
	}
	found, known := types[of]
	if !known {
		return Engine{}, fmt.Errorf("type %q must be one of %s", of, strings.Join(slices.Sorted(maps.Keys(types)), ", "))
	}
	var addresses []string
	for address := range strings.SplitSeq(list, ",") {
		read, err := url.Parse(address)
		if err != nil || read.Scheme != "http" && read.Scheme != "https" || read.Host == "" || read.RawQuery != "" {
			return Engine{}, fmt.Errorf("address %q must be a URL such as http://host:8088", address)
		}
		addresses = append(addresses, strings.TrimRight(address, "/"))
	}
	return Engine{Name: id, Source: found.source, Interval: found.interval, Read: found.read(addresses)}, nil
}
