* The power of a sum, whose terms the ranks expand and sort.
#-
Symbols a,b,c,d,e,x,y;
Local F = (a+b+c+d+e+x+y)^12;
.sort
id a = b + 2*c;
.sort
id x = y - 1;
.sort
id b = 1; id c = 2; id d = 3; id e = 4; id y = 5;
Print;
.end
