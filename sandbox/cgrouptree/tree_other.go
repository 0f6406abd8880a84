//go:build !linux

package cgrouptree

import "errors"

// errNotLinux stands in for what only Linux has.
var errNotLinux = errors.New("cgroups need Linux")

func (*Tree) make(string) error               { return errNotLinux }
func (*Tree) delegate(string) error           { return errNotLinux }
func (*Tree) enter(string, int) error         { return errNotLinux }
func (*Tree) processes(string) ([]int, error) { return nil, errNotLinux }
func (*Tree) kill(string) error               { return errNotLinux }
func (*Tree) remove(string) error             { return errNotLinux }
