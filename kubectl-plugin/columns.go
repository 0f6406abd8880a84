package kubectlplugin

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// customColumns prints the columns a user asks for, as kubectl get -o custom-columns does. kubectl's own printer is not used
// because its package takes longer to initialise than this whole program.
type customColumns struct {
	headers   []string
	paths     []*jsonpath.JSONPath
	noHeaders bool
}

var columnsFormats = []string{"custom-columns", "custom-columns-file"}

// newCustomColumns reads custom-columns=HEADER:PATH,... or custom-columns-file=FILE, a file with a line of headers and a
// line of paths.
func newCustomColumns(format string, noHeaders bool) (*customColumns, error) {
	kind, spec, _ := strings.Cut(format, "=")
	if spec == "" {
		return nil, fmt.Errorf("%s needs columns: %s=NAME:.metadata.name", kind, kind)
	}
	c := &customColumns{noHeaders: noHeaders}
	if kind == "custom-columns-file" {
		if err := c.readFile(spec); err != nil {
			return nil, err
		}
		return c, nil
	}
	for part := range strings.SplitSeq(spec, ",") {
		header, path, found := strings.Cut(part, ":")
		if !found {
			return nil, fmt.Errorf("column %q: must be HEADER:PATH", part)
		}
		if err := c.add(header, path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *customColumns) readFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read the columns file: %w", err)
	}
	defer file.Close()
	var lines [][]string
	for scanner := bufio.NewScanner(file); scanner.Scan() && len(lines) < 2; {
		lines = append(lines, strings.Fields(scanner.Text()))
	}
	if len(lines) < 2 || len(lines[0]) == 0 || len(lines[0]) != len(lines[1]) {
		return fmt.Errorf("columns file %q: must have a line of headers and a line with as many paths", name)
	}
	for i, header := range lines[0] {
		if err := c.add(header, lines[1][i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *customColumns) add(header, path string) error {
	parsed, err := parsePath(path)
	if err != nil {
		return fmt.Errorf("column %q: %w", header, err)
	}
	c.headers, c.paths = append(c.headers, header), append(c.paths, parsed)
	return nil
}

// PrintObj prints an object, or the items of a list.
func (c *customColumns) PrintObj(object runtime.Object, out io.Writer) error {
	items := []runtime.Object{object}
	if meta.IsListType(object) {
		var err error
		if items, err = meta.ExtractList(object); err != nil {
			return fmt.Errorf("list the items of the answer: %w", err)
		}
	}
	w := tabwriter.NewWriter(out, 6, 4, 3, ' ', 0)
	if !c.noHeaders {
		fmt.Fprintln(w, strings.Join(c.headers, "\t"))
	}
	for _, item := range items {
		data, err := plain(item)
		if err != nil {
			return err
		}
		cells := make([]string, len(c.paths))
		for i, path := range c.paths {
			cells[i] = columnText(path, data)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

func columnText(path *jsonpath.JSONPath, data any) string {
	found, err := path.FindResults(data)
	if err != nil {
		return "<none>"
	}
	var values []string
	for _, group := range found {
		for _, value := range group {
			values = append(values, printer.Style{}.Clean(fmt.Sprint(value.Interface())))
		}
	}
	if len(values) == 0 {
		return "<none>"
	}
	return strings.Join(values, ",")
}

// parsePath reads a JSONPath as kubectl does, with or without braces and leading dot.
func parsePath(text string) (*jsonpath.JSONPath, error) {
	inner := strings.TrimSpace(text)
	if strings.HasPrefix(inner, "{") != strings.HasSuffix(inner, "}") {
		return nil, fmt.Errorf("path %q: unbalanced braces", text)
	}
	inner = strings.TrimSuffix(strings.TrimPrefix(inner, "{"), "}")
	if inner == "" {
		return nil, fmt.Errorf("path %q: empty", text)
	}
	if !strings.HasPrefix(inner, ".") && !strings.HasPrefix(inner, "[") && !strings.HasPrefix(inner, "$") {
		inner = "." + inner
	}
	path := jsonpath.New("path").AllowMissingKeys(true)
	if err := path.Parse("{" + inner + "}"); err != nil {
		return nil, fmt.Errorf("path %q: %w", text, err)
	}
	return path, nil
}

// plain is an object as its JSON reads: maps, lists and scalars.
func plain(object runtime.Object) (map[string]any, error) {
	data, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert the answer: %w", err)
	}
	return data, nil
}
