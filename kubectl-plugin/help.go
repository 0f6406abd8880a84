package kubectlplugin

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"koordinator.sh/koord/messages"
)

// helpWidth is the width of the lines of help, which is wrapped by hand in English.
const helpWidth = 120

// translateHelp has help printed in the language of the reader. It waits until the flags are read, since --ascii is one of them.
func translateHelp(root *cobra.Command, s *session) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if language := s.language(); language != messages.English {
			t := helpTranslator{language: language, program: s.Name}
			t.headings(root)
			t.command(root)
			for c := cmd; c != nil; c = c.Parent() {
				t.flags(c)
			}
		}
		show(cmd, args)
	})
}

// helpTranslator puts the texts of commands into a language. They name the program as it was called, the catalogue calls it koordctl.
type helpTranslator struct {
	language messages.Language
	program  string
}

func (t helpTranslator) text(english string) string {
	if t.program == "koordctl" {
		return t.language.Text(english)
	}
	return strings.ReplaceAll(t.language.Text(strings.ReplaceAll(english, t.program, "koordctl")), "koordctl", t.program)
}

// headings of cobra's usage template, and the hint at its end, whose path is a value.
var headings = []string{
	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Additional Commands:", "Global Flags:", "Flags:", "Additional help topics:",
}

const (
	commandPath = "{{.CommandPath}}"
	moreHelp    = `Use "%s [command] --help" for more information about a command.`
)

func (t helpTranslator) headings(root *cobra.Command) {
	hint := func(text string) string { return strings.Replace(text, "%s", commandPath, 1) }
	pairs := []string{hint(moreHelp), hint(t.language.Text(moreHelp))}
	for _, heading := range headings {
		pairs = append(pairs, heading, t.language.Text(heading))
	}
	root.SetUsageTemplate(strings.NewReplacer(pairs...).Replace(root.UsageTemplate()))
	for _, group := range root.Groups() {
		group.Title = t.language.Text(group.Title)
	}
}

// comment above the commands of an example: what they show.
var comment = regexp.MustCompile(`(?m)^( *# )(.*)$`)

func (t helpTranslator) command(c *cobra.Command) {
	c.Short = t.text(c.Short)
	if c.Long != "" {
		var paragraphs []string
		for english := range strings.SplitSeq(strings.Trim(c.Long, "\n"), "\n\n") {
			paragraphs = append(paragraphs, t.paragraph(english))
		}
		c.Long = strings.Join(paragraphs, "\n\n")
	}
	c.Example = comment.ReplaceAllStringFunc(c.Example, func(line string) string {
		mark := comment.FindStringSubmatch(line)
		return mark[1] + t.text(mark[2])
	})
	for _, below := range c.Commands() {
		t.command(below)
	}
}

// paragraph is wrapped again, but for one that is a table.
func (t helpTranslator) paragraph(english string) string {
	english = strings.Trim(english, "\n")
	if !flowing(english) {
		return t.text(english)
	}
	line := strings.ReplaceAll(english, "\n", " ")
	chinese := t.text(line)
	if chinese == line {
		return english
	}
	return strings.Join(messages.Wrap(chinese, helpWidth), "\n")
}

func flowing(paragraph string) bool {
	return !strings.HasPrefix(paragraph, " ") && !strings.HasPrefix(paragraph, "\t")
}

func (t helpTranslator) flags(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) { flag.Usage = t.text(flag.Usage) })
}
