// Package configuration reads the configuration files of Hadoop.
package configuration

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Configuration holds the properties of files, of which later ones override earlier ones, except where a property is final.
type Configuration struct {
	values map[string]string
	final  map[string]bool
}

// document is a configuration file.
type document struct {
	XMLName    xml.Name   `xml:"configuration"`
	Properties []property `xml:"property"`
}

type property struct {
	Name  string `xml:"name"`
	Value string `xml:"value"`
	Final string `xml:"final"`
}

// Load reads files of a directory, those first that others override. Files that do not exist are left out, unless all are missing.
func Load(directory string, names ...string) (*Configuration, error) {
	out := &Configuration{values: map[string]string{}, final: map[string]bool{}}
	found := 0
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(directory, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = out.Add(content)
		}
		if err != nil {
			return nil, fmt.Errorf("read the Hadoop configuration %q: %w", name, err)
		}
		found++
	}
	if found == 0 {
		return nil, fmt.Errorf("read the Hadoop configuration in %q: none of %s exists", directory, strings.Join(names, ", "))
	}
	return out, nil
}

// Add adds the properties of a file.
func (c *Configuration) Add(content []byte) error {
	var parsed document
	if err := xml.Unmarshal(content, &parsed); err != nil {
		return err
	}
	for _, p := range parsed.Properties {
		name := strings.TrimSpace(p.Name)
		if name == "" || c.final[name] {
			continue
		}
		c.values[name] = strings.TrimSpace(p.Value)
		c.final[name] = strings.EqualFold(strings.TrimSpace(p.Final), "true")
	}
	return nil
}

// maxSubstitutions bounds how often ${NAME} is replaced in one value, as Hadoop bounds it.
const maxSubstitutions = 20

// Get returns a property with ${NAME} replaced by other properties, and empty where there is none. What is not set stays as it is.
func (c *Configuration) Get(name string) string {
	value := c.values[name]
	for range maxSubstitutions {
		before, rest, found := strings.Cut(value, "${")
		inner, after, closed := strings.Cut(rest, "}")
		other, set := c.values[inner]
		if !found || !closed || !set {
			break
		}
		value = before + other + after
	}
	return value
}

// GetOr returns a property, and another value where it is not set or empty.
func (c *Configuration) GetOr(name, otherwise string) string {
	if value := c.Get(name); value != "" {
		return value
	}
	return otherwise
}

// Bool says whether a property is true.
func (c *Configuration) Bool(name string) bool {
	value, err := strconv.ParseBool(strings.ToLower(c.Get(name)))
	return err == nil && value
}

// List returns a property's values, which commas separate.
func (c *Configuration) List(name string) []string {
	var out []string
	for value := range strings.SplitSeq(c.Get(name), ",") {
		if value = strings.TrimSpace(value); value != "" {
			out = append(out, value)
		}
	}
	return out
}
