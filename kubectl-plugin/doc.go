// Package kubectlplugin is the command line of the workbench, called as koordctl or as kubectl koord. Every command is
// options that are completed, validated and run; answers come from a source.Source and are printed by package printer.
// Nothing here touches the process: streams, environment, terminal and clock are injected, and errors carry the exit code
// that main applies.
package kubectlplugin
