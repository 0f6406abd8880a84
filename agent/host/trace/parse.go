package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// vmStep is the time between rows of a table of VMs.
	vmStep = 5 * time.Minute
	// untimed is the start of series without timestamps.
	untimed = 0
	// maxPercent bounds the values of a table of VMs.
	maxPercent = 1000
	// maxValue bounds all other values: no service uses a trillion cores.
	maxValue = 1e12
	// maxTimestamp is the last second of the year 9999.
	maxTimestamp = 253402300799
	// maxColumns bounds a table's width.
	maxColumns = 10000
)

// Parse reads one CSV of at most room values in all, and of at most MaxFileBytes. Errors name the line.
func Parse(r io.Reader, name string, room int) ([]*Series, error) {
	reader := csv.NewReader(io.LimitReader(r, MaxFileBytes))
	reader.ReuseRecord = true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("line 1: the file is empty")
	}
	if err != nil {
		return nil, lineError(err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	switch {
	case len(header) == 2 && header[0] == "ts" && header[1] == "value":
		return parseService(reader, name, room)
	case len(header) >= 2 && header[0] == "interval":
		return parseTable(reader, name, slices.Clone(header[1:]), room)
	}
	return nil, fmt.Errorf("line 1: the header %.60q is neither \"ts,value\" nor \"interval,NAME,...\"", strings.Join(header, ","))
}

// parseService reads rows of a timestamp and a value.
func parseService(reader *csv.Reader, name string, room int) ([]*Series, error) {
	var times []int64
	var values []float32
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, lineError(err)
		}
		line, _ := reader.FieldPos(0)
		at, err := strconv.ParseInt(record[0], 10, 64)
		if err != nil || at < 1 || at > maxTimestamp {
			return nil, fmt.Errorf("line %d: timestamp %.40q is not a number of Unix seconds", line, record[0])
		}
		if n := len(times); n > 0 && at <= times[n-1] {
			return nil, fmt.Errorf("line %d: timestamp %d is not after %d of the line before", line, at, times[n-1])
		}
		value, err := number(record[1], maxValue)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		times, values = append(times, at), append(values, value)
	}
	if len(times) < 2 {
		return nil, fmt.Errorf("line %d: a recording needs two rows at least", len(times)+1)
	}
	series, err := regular(name, times, values, room)
	if err != nil {
		return nil, err
	}
	return []*Series{series}, nil
}

// regular lays rows onto the grid of their usual distance, the median.
func regular(name string, times []int64, values []float32, room int) (*Series, error) {
	steps := make([]int64, len(times)-1)
	for i := range steps {
		steps[i] = times[i+1] - times[i]
	}
	slices.Sort(steps)
	step := steps[len(steps)/2]
	span := times[len(times)-1] - times[0]
	if span/step+1 > int64(room) {
		return nil, fmt.Errorf("line %d: %d seconds in steps of %d are more than the %d values there is room for", len(times)+1, span, step, room)
	}
	grid := make([]float32, span/step+1)
	row := 0
	for i := range grid {
		at := times[0] + int64(i)*step
		for row+1 < len(times)-1 && times[row+1] <= at {
			row++
		}
		part := float64(at-times[row]) / float64(times[row+1]-times[row])
		grid[i] = float32(between(float64(values[row]), float64(values[row+1]), part))
	}
	return &Series{Name: name, start: times[0], step: time.Duration(step) * time.Second, values: grid, peak: slices.Max(grid)}, nil
}

// parseTable reads rows of an interval's number and one value a VM.
func parseTable(reader *csv.Reader, name string, columns []string, room int) ([]*Series, error) {
	if len(columns) > maxColumns {
		return nil, fmt.Errorf("line 1: %d columns are more than %d", len(columns), maxColumns)
	}
	series := make([]*Series, len(columns))
	for i, column := range columns {
		series[i] = &Series{Name: name + ":" + column, start: untimed, step: vmStep}
	}
	for row := 0; ; row++ {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, lineError(err)
		}
		line, _ := reader.FieldPos(0)
		if record[0] != strconv.Itoa(row) {
			return nil, fmt.Errorf("line %d: interval %.40q, want %d", line, record[0], row)
		}
		if room -= len(series); room < 0 {
			return nil, fmt.Errorf("line %d: more than %d values", line, MaxValues)
		}
		for i, s := range series {
			value, err := number(record[i+1], maxPercent)
			if err != nil {
				return nil, fmt.Errorf("line %d: column %.40q: %w", line, columns[i], err)
			}
			s.values, s.peak = append(s.values, value), max(s.peak, value)
		}
	}
	if len(series[0].values) < 2 {
		return nil, fmt.Errorf("line %d: a recording needs two rows at least", len(series[0].values)+1)
	}
	return series, nil
}

// number reads a value from 0 to most.
func number(text string, most float64) (float32, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || value < 0 || value > most {
		return 0, fmt.Errorf("value %.40q is not a number from 0 to %g", text, most)
	}
	return float32(value), nil
}

// lineError shortens the csv package's error to the line and the reason.
func lineError(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("line %d: %w", parse.Line, parse.Err)
	}
	return err
}
