package sandbox

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// console is the streams of a command, and the language of who reads them.
type console struct {
	genericiooptions.IOStreams
	// say returns a text in the language of the reader, once the flags are parsed.
	say func(english string) string
}

// tell narrates on standard error, a line at a time.
func (c *console) tell(format string, args ...any) {
	fmt.Fprintln(c.ErrOut, c.say(fmt.Sprintf(format, args...)))
}

// report says on standard output what was done.
func (c *console) report(format string, args ...any) {
	fmt.Fprintln(c.Out, c.say(fmt.Sprintf(format, args...)))
}
