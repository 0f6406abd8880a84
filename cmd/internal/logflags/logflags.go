// Package logflags adds the flags of the log to a program.
package logflags

import (
	"flag"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Add adds -v and --vmodule, the flags of the log that are of use with a log on standard error.
func Add(flags *pflag.FlagSet) {
	all := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(all)
	for _, name := range []string{"v", "vmodule"} {
		flags.AddGoFlag(all.Lookup(name))
	}
}
