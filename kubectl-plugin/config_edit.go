package kubectlplugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	decision "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

const configEditLong = `Edit the configuration in your editor: KUBE_EDITOR, else EDITOR, else vi. If the text has errors, they are shown above it and
the editor opens again; if it is saved unchanged, nothing is written. Then the plan is shown and you are asked, as with apply.`

func newConfigEditCommand(s *session) *cobra.Command {
	o := &changeFlags{}
	cmd := &cobra.Command{
		Use:     "edit",
		Short:   "Edit the configuration, then show the plan and ask",
		Long:    configEditLong,
		Example: fmt.Sprintf("  # Use another editor\n  KUBE_EDITOR=nano %[1]s config edit", s.Name),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if err := o.answerable(s); err != nil {
				return err
			}
			return runConfigEdit(cmd.Context(), s, o, causeOf(s, cmd, nil))
		},
	}
	o.addFlags(cmd)
	return cmd
}

func runConfigEdit(ctx context.Context, s *session, o *changeFlags, cause string) error {
	configurator, err := s.configurator()
	if err != nil {
		return err
	}
	current, err := s.configuration(ctx, configurator)
	if err != nil {
		return err
	}
	data, err := s.edited(ctx, current)
	if err != nil {
		return err
	}
	return o.commit(ctx, s, configurator, proposal.Change{Current: current, Data: data, Cause: cause, Whole: true, Redo: func(fresh map[string]string) (map[string]string, error) {
		return replaceKeys(current.Data, data, fresh), nil
	}})
}

// edited lets the user edit the data until it has no errors.
func (s *session) edited(ctx context.Context, current *source.Configuration) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "koord-config-")
	if err != nil {
		return nil, fmt.Errorf("make a file to edit: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, current.Name+".yaml")
	text := dataText(current.Base())
	for {
		next, err := s.runEditor(ctx, file, text)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(next, []byte(text)) {
			return nil, errors.New("edit cancelled, no changes made")
		}
		data, wrong := checkEdited(current, next)
		if wrong == "" {
			return data, nil
		}
		text = comments(wrong) + withoutComments(string(next))
	}
}

// dataText is the data as YAML with every key's text as a block.
func dataText(data map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if strings.ContainsAny(data[key], "\t\r") || strings.HasPrefix(data[key], " ") || strings.Contains(data[key], " \n") {
			// A block cannot hold this text as it is.
			encoded, err := yaml.Marshal(map[string]string{key: data[key]})
			if err == nil {
				b.Write(encoded)
				continue
			}
		}
		fmt.Fprintf(&b, "%s: |-\n  %s\n", key, strings.ReplaceAll(strings.TrimRight(data[key], "\n"), "\n", "\n  "))
	}
	if b.Len() == 0 {
		return "{}\n"
	}
	return b.String()
}

func (s *session) runEditor(ctx context.Context, file, text string) ([]byte, error) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write the file to edit: %w", err)
	}
	editor := strings.Fields(cmp.Or(s.Getenv("KUBE_EDITOR"), s.Getenv("EDITOR"), "vi"))
	cmd := exec.CommandContext(ctx, editor[0], append(editor[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Streams.In, s.Streams.Out, s.Streams.ErrOut
	if watched, ok := s.Streams.Out.(*watchedWriter); ok {
		cmd.Stdout = watched.Writer
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("run editor %q: %w", strings.Join(editor, " "), ctx.Err())
		}
		// Not wrapped: the editor's exit code must not become this program's.
		return nil, fmt.Errorf("run editor %q: %s", strings.Join(editor, " "), err) //nolint:errorlint // see above
	}
	next, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the edited file: %w", err)
	}
	return next, nil
}

// checkEdited says what is wrong with an edited text, or nothing.
func checkEdited(current *source.Configuration, text []byte) (map[string]string, string) {
	document, err := parseConfigFile(text)
	if err != nil {
		return nil, err.Error()
	}
	data := document.data
	var errs []decision.Finding
	for _, f := range current.Judge(data, nil) {
		if f.Rejects() && data[f.Key] != current.Data[f.Key] {
			errs = append(errs, f)
		}
	}
	if len(errs) == 0 {
		return data, ""
	}
	var b strings.Builder
	// Writing to a builder cannot fail.
	_ = printer.ConfigFindings(&b, current.Name, errs, printer.Options{Style: printer.Style{ASCII: true}})
	return nil, b.String()
}

func comments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	return b.String()
}

// withoutComments drops the comments at the top, which say what was wrong before.
func withoutComments(text string) string {
	for strings.HasPrefix(text, "#") {
		_, rest, _ := strings.Cut(text, "\n")
		text = rest
	}
	return text
}
