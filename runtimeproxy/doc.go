// Package runtimeproxy stands between kubelet and a container runtime that knows no NRI. Everything passes byte for byte, but for
// a few calls about pods and containers, before and after which servers of hooks are asked what is to change.
package runtimeproxy
