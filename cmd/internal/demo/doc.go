// Package demo is Gridhook's main job in front of one's eyes: homes on real
// tariffs, a receiver that verifies, one trigger, and a table of what happened.
package demo
