package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"koordinator.sh/koord/agent/host/trace"
)

// generate writes a table of loads like those of virtual machines: a base, a day, noise that lasts for a while, and bursts.
func generate(directory string, seed uint64) error {
	const machines, rows = 200, 288
	random := rand.New(rand.NewPCG(seed, 7))
	var table strings.Builder
	table.WriteString("interval")
	for i := range machines {
		fmt.Fprintf(&table, ",vm%d", i)
	}
	base, phase, noise, burst := make([]float64, machines), make([]float64, machines), make([]float64, machines), make([]int, machines)
	for i := range machines {
		base[i], phase[i] = math.Exp(random.NormFloat64()*0.7+2.2), random.Float64()*2*math.Pi
	}
	for row := range rows {
		fmt.Fprintf(&table, "\n%d", row)
		for i := range machines {
			noise[i] = 0.8*noise[i] + 0.2*random.NormFloat64()
			if burst[i]--; burst[i] < -1 && random.IntN(150) == 0 {
				burst[i] = 1 + random.IntN(4)
			}
			value := base[i] * (1 + 0.4*math.Sin(2*math.Pi*float64(row)/rows+phase[i]) + 0.5*noise[i])
			if burst[i] > 0 {
				value *= 2
			}
			fmt.Fprintf(&table, ",%.1f", min(max(value, 0), 100))
		}
	}
	table.WriteString("\n")
	return os.WriteFile(filepath.Join(directory, "generated.csv"), []byte(table.String()), 0o600)
}

// recordings reads those of a directory, or generates some.
func recordings(directory string, seed uint64) ([]*trace.Series, error) {
	if directory == "" {
		temporary, err := os.MkdirTemp("", "koord-bench-rebalance-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(temporary) }() // a temporary directory
		if err := generate(temporary, seed); err != nil {
			return nil, err
		}
		directory = temporary
	}
	set, err := trace.Open(directory)
	if err != nil {
		return nil, err
	}
	all := append(append([]*trace.Series(nil), set.Services...), set.VMs...)
	// Machines that do nothing all day say nothing about a load.
	used := all[:0]
	for _, series := range all {
		if series.Peak() > 0 {
			used = append(used, series)
		}
	}
	if len(used) == 0 {
		return nil, fmt.Errorf("trace %q: no recording has any load", directory)
	}
	return used, nil
}
