// Package docs tests what the repository says about itself: the pages, the listings of public names, and the rules for
// rooms and imports.
package docs
