// Package coresched decides which pods may run on the two threads of one physical core at the same time. The kernel lets
// processes share a core that carry the same cookie; pods of one group carry one.
package coresched
