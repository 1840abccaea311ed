#%Module1.0
# jsf @VERSION@ for Environment Modules and Lmod. The prefix is three folders above this file.
set prefix [file dirname [file dirname [file dirname [file dirname [file normalize $ModulesCurrentModulefile]]]]]

proc ModulesHelp {} {
    puts stderr "jsf says what a PBS job_sort_formula does to a queue before the scheduler does it: jsf --help, man jsf."
}
module-whatis "Name: jsf"
module-whatis "Version: @VERSION@"
module-whatis "Description: what a PBS job_sort_formula does to a queue, before the scheduler does it"

conflict jsf
prepend-path PATH $prefix/bin
prepend-path FPATH $prefix/share/zsh/site-functions
# without MANPATH, man finds the pages beside the PATH
if {[info exists env(MANPATH)]} {
    prepend-path MANPATH $prefix/share/man
}
