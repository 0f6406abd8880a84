// Command manpages writes a man page for each of koordctl's commands, and for each of its help topics, from the commands themselves.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	kubectlplugin "koordinator.sh/koord/kubectl-plugin"
)

// Sections of the manual: programs, and everything that is no program.
const (
	programs      = "1"
	miscellaneous = "7"
)

func main() {
	out := flag.String("out", "man", "directory below which man1 and man7 are written")
	version := flag.String("version", "devel", "version of koordctl that the pages name")
	date := flag.Int64("date", 0, "date that the pages bear, in seconds since 1970")
	flag.Parse()
	root := kubectlplugin.NewCommand(kubectlplugin.Options{Name: "koordctl"})
	if err := write(root, *out, doc.GenManHeader{Source: "koordctl " + *version, Manual: "Koordinator"}, time.Unix(*date, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// write writes the pages of a command and of those below it that help lists.
func write(cmd *cobra.Command, dir string, header doc.GenManHeader, date time.Time) error {
	name, page := strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cmd
	header.Section, header.Date = programs, &date
	switch {
	case cmd.IsAdditionalHelpTopicCommand():
		header.Section, page = miscellaneous, topic(cmd, name)
	case cmd.HasParent() && !cmd.IsAvailableCommand():
		return nil
	}
	page.Long = fenceTables(page.Long)
	rendered, err := render(page, header)
	if err != nil {
		return fmt.Errorf("page of %s: %w", name, err)
	}
	section := filepath.Join(dir, "man"+header.Section)
	if err := os.MkdirAll(section, 0o755); err != nil {
		return fmt.Errorf("directory of the pages: %w", err)
	}
	if err := os.WriteFile(filepath.Join(section, name+"."+header.Section), rendered, 0o644); err != nil {
		return fmt.Errorf("page of %s: %w", name, err)
	}
	for _, child := range cmd.Commands() {
		if err := write(child, dir, header, date); err != nil {
			return err
		}
	}
	return nil
}

// topic is a page without flags.
func topic(cmd *cobra.Command, name string) *cobra.Command {
	page := &cobra.Command{Use: name, Short: cmd.Short, Long: cmd.Long, DisableAutoGenTag: true, DisableFlagsInUseLine: true}
	page.InitDefaultHelpFlag()
	page.Flags().Lookup("help").Hidden = true
	return page
}

// fenceTables keeps the lines of indented paragraphs, which are tables, where Markdown would make a paragraph of them.
func fenceTables(long string) string {
	paragraphs := strings.Split(strings.Trim(long, "\n"), "\n\n")
	for i, paragraph := range paragraphs {
		if strings.HasPrefix(paragraph, " ") {
			paragraphs[i] = "```\n" + paragraph + "\n```"
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func render(cmd *cobra.Command, header doc.GenManHeader) ([]byte, error) {
	var page bytes.Buffer
	err := doc.GenMan(cmd, &header, &page)
	return page.Bytes(), err
}
